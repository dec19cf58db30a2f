#!/usr/bin/env bash
# homebrew.sh VERSION DIST: prints the Homebrew formula of a release, with the sums that DIST/checksums.txt has of its
# archives. It goes into the tap as Formula/git-agentxchain.rb.
set -euo pipefail
version=$1 dist=$2
download=https://github.com/git-agentxchain/git-agentxchain/releases/download/v$version

# bottle OS ARCH: where the archive is and what its sum is.
bottle() {
	local name=git-agentxchain_${version}_$1_$2.tar.gz sum
	sum=$(awk -v name="$name" '$2 == name { print $1 }' "$dist/checksums.txt")
	[ -n "$sum" ] || { echo "$dist/checksums.txt does not list $name" >&2; return 1; }
	printf '      url "%s/%s"\n      sha256 "%s"\n' "$download" "$name" "$sum"
}
# Each assigned by itself: a failure inside the text below, or of any but the last of a line, would not end this script.
mac_arm=$(bottle darwin arm64)
mac_intel=$(bottle darwin amd64)
linux_arm=$(bottle linux arm64)
linux_intel=$(bottle linux amd64)
cat <<END
class GitAgentxchain < Formula
  desc "Governed work by agents and people, kept in git"
  homepage "https://github.com/git-agentxchain/git-agentxchain"
  version "$version"
  license "Apache-2.0"

  depends_on "git"

  on_macos do
    on_arm do
$mac_arm
    end
    on_intel do
$mac_intel
    end
  end
  on_linux do
    on_arm do
$linux_arm
    end
    on_intel do
$linux_intel
    end
  end

  def install
    bin.install "git-agentxchain"
    man1.install Dir["man/*.1.gz"]
    bash_completion.install "completion/git-agentxchain.bash" => "git-agentxchain"
    zsh_completion.install "completion/_git-agentxchain"
    fish_completion.install "completion/git-agentxchain.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/git-agentxchain version")
  end
end
END
