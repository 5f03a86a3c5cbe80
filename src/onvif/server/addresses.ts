import { isIPv6 } from 'node:net';
import { plainAddress } from '../../base/client-address.js';
import { DEVICE_PATH } from '../device-address.js';
import type { Addresses } from './shown-cameras.js';

export const MEDIA_PATH = '/onvif/media_service';
export const MEDIA2_PATH = '/onvif/media2_service';
export const SNAPSHOT_PATH = '/onvif/snapshot';

/** Where RTSP is shown; null: not there. */
export type RtspPorts = { readonly rtsp: number | null; readonly rtsps: number | null };

export type Reached = {
  /** As the client calls us, with its port; it may be anything. */
  readonly host: string;
  /** What it reached. */
  readonly localAddress: string;
  readonly isSecure: boolean;
};

const HOST = /^([A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

const bracketed = (address: string): string => (isIPv6(address) ? `[${address}]` : address);

/**
 * Our addresses for whoever asks, by the name that it knows us by: behind NAT, and in containers, that is the one that
 * it can reach. It is told to nobody else.
 */
export const addressesFor = (reached: Reached, ports: RtspPorts): Addresses => {
  const local = plainAddress(reached.localAddress);
  const [authority, name] = HOST.exec(reached.host) ?? [bracketed(local), bracketed(local)];
  const base = `${reached.isSecure ? 'https' : 'http'}://${authority}`;
  // Who asks where nobody can read it is told the stream that nobody can read.
  const isHidden = ports.rtsps !== null && (reached.isSecure || ports.rtsp === null);
  const streams = isHidden ? `rtsps://${name}:${ports.rtsps}` : `rtsp://${name}:${ports.rtsp}`;
  const query = (stream: string): string => (stream === 'sub' ? '?stream=sub' : '');
  return {
    device: `${base}${DEVICE_PATH}`,
    media: `${base}${MEDIA_PATH}`,
    media2: `${base}${MEDIA2_PATH}`,
    reached: local,
    rtsp: (cameraId, stream) => `${streams}/${cameraId}${query(stream)}`,
    snapshot: (cameraId, stream) => `${base}${SNAPSHOT_PATH}/${cameraId}${query(stream)}`,
  };
};
