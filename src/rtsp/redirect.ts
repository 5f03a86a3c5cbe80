import { resolveSession } from './control-url.js';
import { rtspError } from './errors.js';
import type { RtspResponse } from './message.js';
import { type CameraUrl, parseCameraUrl } from './url.js';

/** Where an answer sends us, or null when it is none of the 3xx kind. */
export const redirectTarget = (from: CameraUrl, response: RtspResponse): CameraUrl | null => {
  if (response.status < 300 || response.status > 399) return null;
  const location = response.headers.get('location')?.trim() ?? '';
  if (location === '')
    throw rtspError('protocol_error', `the camera redirects (${response.status}) to nowhere`);
  const isAbsolute = /^rtsps?:\/\//i.test(location);
  const to = parseCameraUrl(isAbsolute ? location : resolveSession(null, location, from.requestUri));
  const isSameHost = to.host.toLowerCase() === from.host.toLowerCase();
  const credentials = to.credentials ?? (isSameHost ? from.credentials : null);
  if (from.isSecure && !to.isSecure && credentials !== null) {
    throw rtspError(
      'protocol_error',
      'the camera redirects from rtsps to rtsp, where the password could be read: use an rtsp URL if you want that',
    );
  }
  return { ...to, credentials };
};
