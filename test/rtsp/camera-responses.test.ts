import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ParameterSets } from '../../src/codec/parameter-sets.js';
import { audioTrackOf, spropNalsOf, videoCodecOf } from '../../src/rtsp/media-format.js';
import { type MediaDescription, parseSdp } from '../../src/rtsp/sdp.js';

/** DESCRIBE answers of real cameras; they lie beside the repository, and the test is skipped without them. */
const folder = join(import.meta.dirname, '../../../../shared/data/rtsp-responses');

const videoText = (media: MediaDescription): string | null => {
  const codec = videoCodecOf(media);
  if (codec === null) return null;
  const sets = new ParameterSets(codec);
  for (const nal of spropNalsOf(media)) sets.offer(nal, 0, nal.length);
  const info = sets.toVideoTrackInfo();
  assert.equal(sets.rejected, 0);
  return `${info?.codecString} ${info?.width}x${info?.height}@${info?.frameRateHz} reorder ${info?.reorderDepth}`;
};

const mediaText = (media: MediaDescription): string => {
  const audio = audioTrackOf(media);
  const audioText =
    audio &&
    `${audio.codec} ${audio.clockRateHz}/${audio.channels} ${Buffer.from(audio.config).toString('hex')}`;
  return `${media.control}: ${(videoText(media) ?? audioText ?? media.encoding).trim()}`;
};

/** Read off the files by eye; resolutions and rates checked with ffmpeg's trace_headers. */
const expected: Readonly<Record<string, readonly string[]>> = {
  'anjvision_describe.txt': ['trackID=1: hvc1.1.2.L153 1280x704@null reorder 0'],
  'anpviz_sdp.txt': ['trackID=1: avc1.4d401f 704x576@null reorder 0', 'trackID=2: aac 16000/1 1408'],
  'bunny_describe.txt': ['trackID=1: aac 12000/2 1490', 'trackID=2: avc1.42c01e 240x160@24 reorder 0'],
  'dahua_describe_h264_aac_onvif.txt': [
    'trackID=0: avc1.64001e 704x480@15 reorder null',
    'trackID=1: aac 48000/1 1188',
    'trackID=4: VND.ONVIF.METADATA',
  ],
  'dahua_describe_h265_pcma.txt': [
    'trackID=0: hvc1.1.6.L90.B0 704x480@12 reorder 0',
    'trackID=1: pcma 8000/1',
  ],
  'foscam_describe.txt': ['track1: avc1.4d001f 1280x720@null reorder 0', 'track2: pcmu 8000/1'],
  'geovision_sdp.txt': [
    'rtsp://192.168.5.237/media/video1/video: avc1.4d4032 2688x1520@30 reorder 0',
    'rtsp://192.168.5.237/media/video1/metadata: VND.ONVIF.METADATA',
  ],
  'gw_main_describe.txt': ['video: avc1.4d002a 1920x1080@null reorder 0', 'audio: pcmu 8000/1'],
  'gw_sub_describe.txt': ['video: avc1.4d001e 720x480@null reorder 0'],
  'h264dvr_describe.txt': ['trackID=3: avc1.420029 1920x1080@15 reorder 0', 'trackID=4: pcma 8000/1'],
  'hikvision_describe.txt': [
    'rtsp://192.168.5.106:554/Streaming/Channels/101/trackID=1?transportmode=unicast&profile=Profile_1: avc1.4d0029 1920x1080@30 reorder null',
    'rtsp://192.168.5.106:554/Streaming/Channels/101/trackID=3?transportmode=unicast&profile=Profile_1: VND.ONVIF.METADATA',
  ],
  'ipcam_describe.txt': ['trackID=1: avc1.4d0020 1280x960@20 reorder 0'],
  'macrovideo_describe.txt': ['track1: avc1.4de028 1280x720@20 reorder 0'],
  'missing_content_type_describe.txt': [
    'streamid=0: avc1.64000d 320x180@30 reorder 2',
    'streamid=1: aac 48000/2 119056e500',
  ],
  'reolink_describe.txt': [
    'trackID=1: avc1.640033 2560x1440@null reorder null',
    'trackID=2: aac 16000/1 1408',
  ],
  'reolink_describe_control_first.txt': [
    'trackID=1: avc1.640033 2560x1440@null reorder null',
    'trackID=2: aac 16000/1 1408',
  ],
  'tplink_sdp.txt': ['track1: hvc1.1.6.L150 2560x1440@15 reorder 0', 'track2: pcma 8000/1'],
  'ubiquiti_sdp.txt': [
    'trackID=0: aac 48000/1 1188',
    'trackID=1: opus 48000/2',
    'trackID=2: avc1.4d402a 1920x1080@45 reorder 0',
  ],
  'vstarcam_describe.txt': ['track0: avc1.4d002a 1920x1080@7.5 reorder 0', 'track1: pcma 8000/1'],
};

test('session descriptions of real cameras', { skip: !existsSync(folder) }, () => {
  const found: Record<string, readonly string[]> = {};
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8');
    const at = text.search(/^v=0/m);
    if (at >= 0) found[name] = parseSdp(text.slice(at)).medias.map(mediaText);
  }
  assert.deepEqual(found, expected);
});
