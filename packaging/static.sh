#!/bin/sh
# static.sh TARGET FOLDER: static rooflint and rooflint-http for TARGET (linux-x86_64,
# linux-aarch64, macos-x86_64, macos-aarch64), installed below FOLDER, and what is linked in into
# FOLDER/libraries.  On Linux musl is linked in, too; on macOS the system's libSystem is the one
# library that they load.
#
# `zig` (ziglang on PyPI) compiles for all on Linux of either architecture.  The same sources give
# the same bytes: paths are mapped away, and no tool sees the clock.
set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
target=$1
arch=${target#*-}
mkdir -p "$2"
out=$(cd "$2" && pwd)
work=${WORK:-$top/build/packaging}
jobs=$(getconf _NPROCESSORS_ONLN)
host=linux-$(uname -m)
emulator=
case $target in
linux-x86_64 | linux-aarch64)
	triple=$arch-linux-musl configured=$triple openssl=linux-$arch format=gnu uname=Linux
	ldflags='-static-pie -Wl,-s' runtime="musl of zig"
	# What is built for another architecture runs here, too: the build runs programs of its own.
	[ "$target" = "$host" ] || emulator=qemu-$arch-static
	;;
macos-x86_64 | macos-aarch64)
	triple=$arch-macos.11.0 configured=$arch-apple-darwin20 format=darwin uname=Darwin
	openssl=darwin64-$(echo "$arch" | sed s/aarch64/arm64/)-cc
	ldflags=-Wl,-s runtime="compiler-rt of zig"
	;;
*) echo "static.sh: no such target: $target" >&2 && exit 2 ;;
esac
for tool in apt-get dpkg-source nasm tclsh perl pkg-config $emulator; do
	command -v "$tool" >/dev/null ||
		{ echo "static.sh: $tool is missing (packaging/deps installs it)" >&2 && exit 2; }
done

# Libraries are kept from one commit to the next, so what they say of time is not the commit's.
export SOURCE_DATE_EPOCH=0 LC_ALL=C TZ=UTC ZERO_AR_DATE=1
mkdir -p "$work"
work=$(cd "$work" && pwd)
sources=$work/sources
"$here/sources.sh" "$sources"

# ---- the compiler -------------------------------------------------------------------------------

zig=$("${PYTHON:-python3}" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/zig ||
	{ echo 'static.sh: needs ziglang: pip install -r packaging/requirements.txt' >&2 && exit 2; }
export ZIG_GLOBAL_CACHE_DIR="$work/zig" ZIG_LOCAL_CACHE_DIR="$work/zig"

# Libraries are built anew when a version, this script or the compiler changes.
id=$({ cat "$here/libraries" "$here/static.sh" && "$zig" version; } | cksum | cut -d' ' -f1)
tree=$work/$target-$id
prefix=$tree/prefix
tools=$tree/tools
mkdir -p "$prefix" "$tools"
flags="-O2 -g0 -fPIE -fstack-protector-strong -fno-sanitize=undefined"
flags="$flags -ffile-prefix-map=$work=. -ffile-prefix-map=$top=."
tool()
{
	printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$tools/$1"
	chmod +x "$tools/$1"
}
tool cc "'$zig' cc -target $triple $flags"
tool ar "'$zig' ar --format=$format"
tool ranlib "'$zig' ranlib"
tool pkg-config 'pkg-config --static'
export CC="$tools/cc" AR="$tools/ar" RANLIB="$tools/ranlib"
export PKG_CONFIG="$tools/pkg-config" PKG_CONFIG_LIBDIR="$prefix/lib/pkgconfig"

# ---- libraries ----------------------------------------------------------------------------------

# The generated files that a release carries are used, whatever Debian's patches are newer than.
configure()
{
	find . -name aclocal.m4 -exec touch {} +
	find . \( -name configure -o -name Makefile.in -o -name config.h.in \) -exec touch {} +
	./configure --quiet --host="$configured" --prefix="$prefix" --libdir="$prefix/lib" \
		--enable-static --disable-shared CFLAGS="$CFLAGS" "$@"
}

build_brotli()
{
	for part in common dec; do
		# shellcheck disable=SC2086
		for f in c/$part/*.c; do $CC $CFLAGS -Ic/include -c "$f" -o "$part-$(basename "$f").o"; done
	done
	$AR rcs "$prefix/lib/libbrotlidec.a" common-*.o dec-*.o
	cp -r c/include/brotli "$prefix/include/"
	pc libbrotlidec -lbrotlidec
}

build_cjson()
{
	# shellcheck disable=SC2086
	$CC $CFLAGS -c cJSON.c -o cJSON.o
	$AR rcs "$prefix/lib/libcjson.a" cJSON.o
	mkdir -p "$prefix/include/cjson"
	cp cJSON.h "$prefix/include/cjson/"
	pc libcjson -lcjson "/cjson"
}

# Only what http/ speaks.  On macOS it would ask a framework for proxies, which changes nothing but
# which addresses of IPv6 are found behind NAT64.
build_curl()
{
	sed -i 's/define CURL_OSX_CALL_COPYPROXIES 1/undef CURL_OSX_CALL_COPYPROXIES/' lib/curl_setup.h
	sed -i 's/ -framework CoreFoundation -framework SystemConfiguration//' configure
	configure --with-openssl="$prefix" --without-zlib --without-brotli --without-zstd \
		--without-nghttp2 --without-libpsl --without-libidn2 --without-librtmp \
		--without-libssh2 --without-ca-bundle --without-ca-path --disable-ldap \
		--disable-ftp --disable-file --disable-rtsp --disable-dict --disable-telnet \
		--disable-tftp --disable-pop3 --disable-imap --disable-smb --disable-smtp \
		--disable-gopher --disable-mqtt --disable-manual --disable-docs --disable-ntlm \
		--disable-tls-srp --disable-unix-sockets --disable-alt-svc --disable-hsts
	make -s -j"$jobs" -C lib install
	make -s -C include install
	make -s install-pkgconfigDATA
}

build_libfyaml()
{
	configure --without-libyaml ac_cv_lib_check_main=no
	make -s -j"$jobs" -C src libfyaml.la
	make -s -C src install-libLTLIBRARIES install-includeHEADERS
	make -s install-pkgconfigDATA
}

build_libisal()
{
	# The same instructions in a form that clang's assembler takes, too.
	sed -i 's/x_dist, uxtw$/w_dist, uxtw/' igzip/aarch64/gen_icf_map.S
	sed -i 's/uxtw\(.*length,\)/mov\1/' igzip/aarch64/igzip_decode_huffman_code_block_aarch64.S
	case $target in
	linux-x86_64) cpu=host_cpu=x86_64 ;;
	linux-*) cpu="host_cpu=$arch arch=$arch" ;;
	*) cpu=arch=noarch ;; # its assembly is for ELF alone
	esac
	# shellcheck disable=SC2086 # a list
	make -s -j"$jobs" -f Makefile.unx units='crc igzip' $cpu have_threads=y CC="$CC" AR="$AR" lib
	cp bin/isa-l.a "$prefix/lib/libisal.a"
	mkdir -p "$prefix/include/isa-l"
	cp include/*.h "$prefix/include/isa-l/"
	pc libisal -lisal
}

# Mach-O has no aliases, by which alone some functions of SHA-384 are defined.
build_libmd()
{
	[ "$uname" = Linux ] || sed -i '/^libmd_alias(SHA384/d' src/sha2.c
	configure
	make -s -j"$jobs" -C src install
	make -s -C include install
	pc libmd -lmd
}

build_libxml2()
{
	configure --with-minimum --with-tree --with-output --with-push --with-writer --with-threads
	make -s -j"$jobs" libxml2.la
	make -s install-libLTLIBRARIES install-data
}

# It remembers how it was configured, so it is told no path of this machine.
build_openssl()
{
	export PATH="$tools:$PATH" CC=cc AR=ar RANLIB=ranlib
	./Configure "$openssl" --prefix=/usr --libdir=lib --openssldir=/etc/ssl no-shared \
		no-tests no-dso no-module no-engine no-legacy no-comp no-ui-console no-cms no-ts \
		no-dtls no-srp no-psk no-afalgeng >log
	make -s -j"$jobs" build_generated >>log
	make -s -j"$jobs" libcrypto.a libssl.a >>log
	cp libcrypto.a libssl.a "$prefix/lib/"
	cp -r include/openssl "$prefix/include/"
	pc libcrypto -lcrypto
	pc libssl '-lssl -lcrypto'
	pc openssl '-lssl -lcrypto'
}

build_sqlite3()
{
	CC=cc ./configure --quiet --disable-tcl --disable-readline
	CC=cc make -s sqlite3.c # a program of this machine joins the sources to one
	# shellcheck disable=SC2086
	$CC $CFLAGS -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_DQS=0 \
		-DSQLITE_ENABLE_MATH_FUNCTIONS -c sqlite3.c -o sqlite3.o
	$AR rcs "$prefix/lib/libsqlite3.a" sqlite3.o
	cp sqlite3.h "$prefix/include/"
	pc sqlite3 -lsqlite3
}

# pc NAME LIBS [BELOW INCLUDE]
pc()
{
	printf 'Name: %s\nDescription: %s\nVersion: %s\nLibs: -L%s %s\nCflags: -I%s\n' "$1" "$1" \
		"$version" "$prefix/lib" "$2" "$prefix/include${3:-}" \
		>"$prefix/lib/pkgconfig/$1.pc"
}

mkdir -p "$prefix/lib/pkgconfig" "$prefix/include"
# curl needs OpenSSL.
{ grep -v -e '^#' -e '^curl ' "$here/libraries" && grep '^curl ' "$here/libraries"; } >"$tree/order"
while read -r name version module; do
	[ ! -e "$tree/$name.done" ] || continue
	echo "  LIB   $target $name $version"
	rm -rf "${tree:?}/$name"
	cp -a "$sources/$name" "$tree/$name"
	(cd "$tree/$name" && CFLAGS= && export CFLAGS && "build_$name") >"$tree/$name.log" 2>&1 &
	wait $! || { tail -n 20 "$tree/$name.log" >&2 && exit 1; }
	rm -rf "${tree:?}/$name"
	touch "$tree/$name.done"
done <"$tree/order"

# ---- the programs -------------------------------------------------------------------------------

# What is built for macOS does not run here: the same program of this machine does in its place.
case $target in
macos-*)
	"$0" "$host" "$tree/host"
	tool host "sh -c '\"$work/$host-$id/rooflint/\$(basename \"\$0\")\" \"\$@\"'"
	emulator=$tools/host
	;;
esac
grep -v '^#' "$here/libraries" | sed 's/\([^ ]*\) \([^ ]*\) .*/\1 \2/' >"$out/libraries"
make -s -C "$top" -j"$jobs" CC="$CC" AR="$AR" PKG_CONFIG="$PKG_CONFIG" O="$tree/rooflint" \
	UNAME="$uname" CFLAGS='' LDFLAGS="$ldflags" EMULATOR="$emulator" \
	LIBRARIES="$(paste -sd, "$out/libraries" | sed 's/,/, /g'), $runtime $("$zig" version)" \
	DESTDIR='' PREFIX="$out" install
