{
  description = "Governed work by agents and people, kept in git";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
    in {
      packages = each (pkgs: {
        default = pkgs.buildGoModule {
          pname = "git-agentxchain";
          version = self.shortRev or "dirty";
          src = self;
          # After a change of go.sum: go test ./packaging -run TestFlakeHash -update-flake
          vendorHash = "sha256-rcoA0p2d9zHrGZ/Rq9Uy/rI+7VXmMnvdrID3wrtrsnI=";
          subPackages = [ "cmd/git-agentxchain" ];
          tags = [ "urfave_cli_no_docs" ];
          env.CGO_ENABLED = 0;
          ldflags = [ "-s" "-w" ];
          # The tests need git, ssh-keygen and more; .ci/run runs them.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/git-agentxchain man --install --to man
            installManPage man/*.1
            for shell in bash zsh fish; do
              $out/bin/git-agentxchain completion $shell > git-agentxchain.$shell
              installShellCompletion --$shell git-agentxchain.$shell
            done
          '';
        };
      });
    };
}
