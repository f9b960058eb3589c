# Homebrew: built from the release's sources with Homebrew's libraries.  packaging/formula.sh fills
# in the version and the digest of the sources' tar file.
class Rooflint < Formula
  desc "Linter for accelerator performance: judges profiles of JAX and XLA jobs"
  homepage "@HOMEPAGE@"
  url "@HOMEPAGE@/releases/download/v@VERSION@/rooflint-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "pkgconf" => :build
  depends_on "brotli"
  depends_on "cjson"
  depends_on "curl"
  depends_on "isa-l"
  depends_on "libfyaml"
  depends_on "libmd"
  depends_on "libxml2"
  depends_on "openssl@3"
  depends_on "sqlite"

  def install
    system "make", "install", "PREFIX=#{prefix}"
    pkgshare.install "tests/profiles/demo"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/rooflint --version")
    output = shell_output("#{bin}/rooflint check #{pkgshare}/demo", 1)
    assert_match "oversized-all-gather", output
  end
end
