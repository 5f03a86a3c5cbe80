"""Adds an ONVIF device as a recorder does, by python-onvif-zeep, and prints what it learnt as JSON.

Arguments: host, port, user, password.
"""

import json
import sys

from onvif import ONVIFCamera


def main(host, port, user, password):
    camera = ONVIFCamera(host, int(port), user, password, adjust_time=True)
    information = camera.devicemgmt.GetDeviceInformation()
    services = camera.devicemgmt.GetServices({"IncludeCapability": False})
    media = camera.create_media_service()
    setup = {"Stream": "RTP-Unicast", "Transport": {"Protocol": "RTSP"}}
    profiles = []
    for profile in media.GetProfiles():
        encoder = profile.VideoEncoderConfiguration
        token = {"ProfileToken": profile.token}
        profiles.append(
            {
                "token": profile.token,
                "source": profile.VideoSourceConfiguration.SourceToken,
                "encoding": encoder.Encoding,
                "width": encoder.Resolution.Width,
                "height": encoder.Resolution.Height,
                "stream": media.GetStreamUri({"StreamSetup": setup, **token}).Uri,
                "snapshot": media.GetSnapshotUri(token).Uri,
            }
        )
    print(
        json.dumps(
            {
                "manufacturer": information.Manufacturer,
                "firmware": information.FirmwareVersion,
                "services": [service.Namespace for service in services],
                "scopes": [scope.ScopeItem for scope in camera.devicemgmt.GetScopes()],
                "hostname": camera.devicemgmt.GetHostname().Name,
                "interfaces": len(camera.devicemgmt.GetNetworkInterfaces()),
                "sources": [source.token for source in media.GetVideoSources()],
                "source_configurations": [each.token for each in media.GetVideoSourceConfigurations()],
                "encoders": [each.token for each in media.GetVideoEncoderConfigurations()],
                "capabilities": media.GetServiceCapabilities().SnapshotUri,
                "profiles": profiles,
            }
        )
    )


main(*sys.argv[1:])
