import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { VideoCodec } from '../../src/codec/track.js';

const script = join(import.meta.dirname, '../../../test/support/gst-player.py');
/** Debian's GStreamer bindings belong to Debian's Python, whatever else is on the path. */
const PYTHON = '/usr/bin/python3';
const HEAD_BYTES = 12;

export type GstUnit = { readonly ptsNs: number; readonly bytes: Buffer };

/** So many access units (Annex B) of an RTSP address, as GStreamer's player has them. */
export const gstUnits = async (
  url: string,
  transport: 'tcp' | 'udp',
  codec: VideoCodec,
  count: number,
): Promise<GstUnit[]> => {
  const { stdout } = await promisify(execFile)(PYTHON, [script, url, transport, codec, String(count)], {
    encoding: 'buffer',
    maxBuffer: 64 << 20,
    timeout: 60_000,
  });
  const units: GstUnit[] = [];
  for (let at = 0; at + HEAD_BYTES <= stdout.length; ) {
    const end = at + HEAD_BYTES + stdout.readUInt32BE(at + 8);
    const ptsNs = Number(stdout.readBigUInt64BE(at));
    units.push({ ptsNs, bytes: stdout.subarray(at + HEAD_BYTES, end) });
    at = end;
  }
  return units;
};
