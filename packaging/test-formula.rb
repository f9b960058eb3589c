#!/usr/bin/env ruby
# test-formula.rb FORMULA SOURCES.tar.gz: the Homebrew formula does what Homebrew asks of it, with
# this system's libraries in place of Homebrew's: it names the sources and their digest, depends on
# what `make deps` installs with brew, and its steps install and test in a fresh folder.
require "digest"
require "fileutils"
require "minitest/autorun"
require "pathname"
require "shellwords"
require "tmpdir"

TOP = File.expand_path("..", __dir__)
FORMULA, SOURCES = ARGV.map { |path| File.expand_path(path) }
ARGV.clear

# What a formula can say, as far as ours says it: any other word is an error.
class Formula
  include Minitest::Assertions
  attr_accessor :assertions
  attr_reader :prefix

  class << self
    attr_reader :dependencies, :tested

    %i[desc homepage url sha256 license].each do |name|
      define_method(name) { |value = nil| value ? instance_variable_set("@#{name}", value) : instance_variable_get("@#{name}") }
    end

    def depends_on(what) = ((@dependencies ||= []) << what)

    def test(&block) = @tested = block
  end

  def initialize(prefix)
    @prefix = Pathname(prefix)
    self.assertions = 0
  end

  def bin = prefix/"bin"

  def version = File.read("#{TOP}/VERSION").strip

  def system(*command) = Kernel.system(*command, exception: true, out: File::NULL)

  def shell_output(command, expected = 0)
    output = `#{command}`
    assert_equal expected, $?.exitstatus, command
    output
  end

  # prefix/share/NAME, whose `install` moves what it is given there.
  def pkgshare
    folder = prefix/"share"/"rooflint"
    folder.define_singleton_method(:install) { |path| FileUtils.mkpath(self) && FileUtils.mv(path, self) }
    folder
  end
end

load FORMULA

class TestFormula < Minitest::Test
  def test_sources
    version = File.read("#{TOP}/VERSION").strip
    assert_equal "#{Rooflint.homepage}/releases/download/v#{version}/#{File.basename(SOURCES)}", Rooflint.url
    assert_equal Digest::SHA256.file(SOURCES).hexdigest, Rooflint.sha256
    refute_match(/@[A-Z]+@/, File.read(FORMULA))
    assert_equal "Apache-2.0", Rooflint.license
    # brew audit: at most 80 characters, no article, no full stop, not the formula's name
    assert_operator Rooflint.desc.length, :<=, 80
    refute_match(/\A(an?|the)\b|\.\z|\Arooflint/i, Rooflint.desc)
  end

  def test_dependencies
    build, run = Rooflint.dependencies.partition { |d| d.is_a?(Hash) }
    assert_equal [{ "pkgconf" => :build }], build
    assert_equal run.sort, run
    brew = File.read("#{TOP}/.ci/deps")[/brew install (.*) "\$@"/, 1].split
    assert_equal brew.sort, (run + %w[pkgconf python3 cmocka]).sort # the last two are for the tests
    linked = File.readlines("#{TOP}/packaging/libraries").grep_v(/^#/).map { |line| line.split.first }
    names = { "libisal" => "isa-l", "openssl" => "openssl@3", "sqlite3" => "sqlite" } # Homebrew's
    assert_equal linked.map { |name| names.fetch(name, name) }.sort, run
  end

  def test_installs_and_tests
    Dir.mktmpdir do |box|
      system "tar", "-xzf", SOURCES, "-C", box, exception: true
      formula = Rooflint.new("#{box}/prefix")
      Dir.chdir("#{box}/#{File.basename(SOURCES, ".tar.gz")}") { formula.install }
      formula.instance_exec(&Rooflint.tested)
      assert_operator formula.assertions, :>=, 2
      assert_path_exists "#{box}/prefix/share/man/man1/rooflint.1"
    end
  end
end
