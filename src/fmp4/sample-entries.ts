import { assertNever } from '../base/errors.js';
import { parseAacConfig } from '../codec/aac.js';
import { buildAvcc } from '../codec/avcc.js';
import { buildHvcc } from '../codec/hvcc.js';
import type { AudioTrackInfo, VideoTrackInfo } from '../codec/track.js';
import { box, fullBox, u8, u16, u24, u32, zeros } from './box-bytes.js';
import { sampleEntryHead } from './movie-boxes.js';

const DOTS_72_PER_INCH = 0x48_0000;

/** VisualSampleEntry (ISO 14496-12 §12.1.3). */
const visualSampleEntry = (type: string, { width, height }: VideoTrackInfo, config: Uint8Array): Buffer =>
  box(
    type,
    sampleEntryHead(),
    zeros(16), // pre_defined, reserved
    u16(width),
    u16(height),
    u32(DOTS_72_PER_INCH), // horizresolution
    u32(DOTS_72_PER_INCH), // vertresolution
    u32(0), // reserved
    u16(1), // frame_count
    zeros(32), // compressorname
    u16(0x18), // depth: colour, no alpha
    u16(0xffff), // pre_defined
    config,
  );

/** H.264 with parameter sets in the entry alone (ISO 14496-15 §5.4.2.1). */
export const avc1 = (track: VideoTrackInfo): Buffer =>
  visualSampleEntry('avc1', track, box('avcC', buildAvcc(track)));

/** H.265 with parameter sets in the entry alone (ISO 14496-15 §8.4.1.1); Safari plays no `hev1`. */
export const hvc1 = (track: VideoTrackInfo): Buffer =>
  visualSampleEntry('hvc1', track, box('hvcC', buildHvcc(track)));

const MAX_FIXED_RATE_HZ = 0xffff;

/** AudioSampleEntry (ISO 14496-12 §12.2.3). */
const audioSampleEntry = (
  type: string,
  { channels, clockRateHz }: AudioTrackInfo,
  ...config: readonly Uint8Array[]
): Buffer =>
  box(
    type,
    sampleEntryHead(),
    zeros(8), // reserved
    u16(channels), // channelcount
    u16(16), // samplesize
    u16(0), // pre_defined
    u16(0), // reserved
    // samplerate, 16.16: what doesn't fit is told by the codec's own configuration.
    u32(clockRateHz > MAX_FIXED_RATE_HZ ? 0 : clockRateHz * 0x10000),
    ...config,
  );

/** A descriptor (ISO 14496-1 §8.3.3); ours are all under 128 bytes. */
const descriptor = (tag: number, ...content: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(content);
  return Buffer.concat([u8(tag), u8(body.length), body]);
};

const MPEG4_AUDIO = 0x40;
const AUDIO_STREAM = 0x15;

/** Elementary Stream Descriptor Box (ISO 14496-14 §5.6). */
export const esds = (config: Uint8Array): Buffer =>
  fullBox(
    'esds',
    0,
    0,
    descriptor(
      3, // ES_DescrTag
      u16(0), // ES_ID: 0 within a file
      u8(0), // no dependency, URL or priority
      descriptor(
        4, // DecoderConfigDescrTag
        u8(MPEG4_AUDIO), // objectTypeIndication
        u8(AUDIO_STREAM), // streamType 5, upStream 0, reserved 1
        u24(0), // bufferSizeDB
        u32(0), // maxBitrate
        u32(0), // avgBitrate: unknown
        descriptor(5 /* DecSpecificInfoTag */, config),
      ),
      descriptor(6 /* SLConfigDescrTag */, u8(2 /* predefined: MP4 file */)),
    ),
  );

/** AAC (ISO 14496-14 §5.6). The core codec's rate stands here: with SBR it is half of what is heard. */
export const mp4a = (track: AudioTrackInfo): Buffer => {
  const clockRateHz = parseAacConfig(track.config)?.sampleRateHz ?? track.clockRateHz;
  return audioSampleEntry('mp4a', { ...track, clockRateHz }, esds(track.config));
};

/** Opus Specific Box (Encapsulation of Opus in ISOBMFF §4.3.2), big-endian unlike Ogg's. */
export const dOps = (channels: number): Buffer =>
  box(
    'dOps',
    u8(0), // Version
    u8(channels), // OutputChannelCount
    u16(0), // PreSkip: RTP tells none, and recording begins in mid-stream
    u32(48_000), // InputSampleRate
    u16(0), // OutputGain
    u8(0), // ChannelMappingFamily
  );

const LAST_METADATA_BLOCK = 0x80;
const STREAMINFO = 0;

/** FLAC Specific Box (Encapsulation of FLAC in ISOBMFF §3.3.2). */
export const dfLa = (streamInfo: Uint8Array): Buffer =>
  fullBox('dfLa', 0, 0, u8(LAST_METADATA_BLOCK | STREAMINFO), u24(streamInfo.length), streamInfo);

const LAYOUT_MONO = 0x64_0001;
const LAYOUT_STEREO = 0x65_0002;
const LAYOUT_UNKNOWN = 0xffff_0000;

/** Channel Layout Box (QuickTime File Format, `chan`): without it FFmpeg warns that it has to guess. */
export const chan = (channels: number): Buffer =>
  fullBox(
    'chan',
    0,
    0,
    u32([0, LAYOUT_MONO, LAYOUT_STEREO][channels] ?? LAYOUT_UNKNOWN + channels), // mChannelLayoutTag
    u32(0), // mChannelBitmap
    u32(0), // mNumberChannelDescriptions
  );

/** The sample entry of the video track. */
export const videoSampleEntry = (track: VideoTrackInfo): Buffer =>
  track.codec === 'h264' ? avc1(track) : hvc1(track);

/** The sample entry of the audio track; G.711 and PCM under the names that QuickTime registered. */
export const audioSampleEntryOf = (track: AudioTrackInfo): Buffer => {
  switch (track.codec) {
    case 'aac':
      return mp4a(track);
    case 'opus':
      return audioSampleEntry('Opus', track, dOps(track.channels));
    case 'flac':
      return audioSampleEntry('fLaC', track, dfLa(track.config));
    case 'pcmu':
      return audioSampleEntry('ulaw', track, chan(track.channels));
    case 'pcma':
      return audioSampleEntry('alaw', track, chan(track.channels));
    case 'l16':
      return audioSampleEntry('twos', track, chan(track.channels));
    default:
      return assertNever(track.codec);
  }
};
