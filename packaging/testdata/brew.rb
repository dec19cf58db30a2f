# brew.rb FORMULA DIST PREFIX OS ARCH: does what Homebrew does with a formula of archives: picks the one of a system,
# compares its sum, unpacks it, runs "install" into PREFIX and then "test". The archives are taken from DIST.
require "digest"
require "fileutils"
require "tmpdir"

FORMULA, DIST, PREFIX, OS, ARCH = ARGV

# A directory into which a formula installs.
class Keg
  def initialize(dir)
    @dir = dir
  end

  def install(*sources)
    FileUtils.mkdir_p(@dir)
    sources.flatten.each do |source|
      (source.is_a?(Hash) ? source.to_a : [[source, File.basename(source)]]).each do |from, to|
        FileUtils.cp(from, File.join(@dir, to), preserve: true)
      end
    end
  end

  def to_s
    @dir
  end
end

class Formula
  class << self
    attr_reader :said

    %w[desc homepage version license depends_on url sha256].each do |word|
      define_method(word) { |value| (@said ||= {})[word] = value }
    end
    def on_macos = OS == "darwin" && yield
    def on_linux = OS == "linux" && yield
    def on_arm = ARCH == "arm64" && yield
    def on_intel = ARCH == "amd64" && yield
    def test(&block) = define_method(:check, &block)
    def inherited(formula)
      super
      @@formula = formula
    end

    def last = @@formula
  end

  def version = self.class.said["version"]
  def bin = Keg.new(File.join(PREFIX, "bin"))
  def man1 = Keg.new(File.join(PREFIX, "share/man/man1"))
  def bash_completion = Keg.new(File.join(PREFIX, "etc/bash_completion.d"))
  def zsh_completion = Keg.new(File.join(PREFIX, "share/zsh/site-functions"))
  def fish_completion = Keg.new(File.join(PREFIX, "share/fish/vendor_completions.d"))

  def shell_output(command)
    out = `#{command}`
    $?.success? or abort("#{command}: #{$?}")
    out
  end

  def assert_match(want, got)
    got.include?(want) or abort("the test: #{got.inspect} has no #{want.inspect}")
  end
end

load FORMULA
formula = Formula.last
said = formula.said
missing = %w[desc homepage version license url sha256].reject { |word| said[word] }
missing.empty? or abort("the formula does not say #{missing.join(", ")}")
said["url"].include?("/v#{said["version"]}/") or abort("#{said["url"]} is of another version than #{said["version"]}")
archive = File.join(DIST, File.basename(said["url"]))
Digest::SHA256.file(archive).hexdigest == said["sha256"] or abort("#{archive} has another sum than the formula says")
Dir.mktmpdir do |dir|
  system("tar", "-xzf", File.expand_path(archive), "-C", dir, exception: true)
  Dir.chdir(dir) { formula.new.install }
end
formula.new.check
