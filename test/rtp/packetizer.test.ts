import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PacketWriter } from '../../src/rtp/packet-writer.js';
import { packetizeAac, packetizeAacGroup, packetizeAudioFrame } from '../../src/rtp/packetize-audio.js';
import { H264Packetizer } from '../../src/rtp/packetize-h264.js';
import { H265Packetizer } from '../../src/rtp/packetize-h265.js';

const collect = (maxPayloadBytes: number): { writer: PacketWriter; packets: string[] } => {
  const packets: string[] = [];
  const options = { payloadType: 96, ssrc: 0xdeadbeef, firstSequence: 0xffff, maxPayloadBytes };
  const writer = new PacketWriter(options, Buffer.alloc(4096), 4, (buffer, start, end) => {
    packets.push(buffer.toString('hex', start, end));
  });
  return { writer, packets };
};

const accessUnit = (...nalUnits: string[]): Buffer =>
  Buffer.concat(
    nalUnits.map((hex) => {
      const nal = Buffer.from(hex, 'hex');
      const prefix = Buffer.alloc(4);
      prefix.writeUInt32BE(nal.length);
      return Buffer.concat([prefix, nal]);
    }),
  );

test('the header carries marker, payload type, sequence, timestamp and SSRC', () => {
  const { writer, packets } = collect(100);
  const frame = accessUnit('6588', '4101');
  new H264Packetizer({ aggregate: false, packetizationMode: 1 }, writer).packetize(
    frame,
    0,
    frame.length,
    0x1_0000_0010,
  );
  assert.deepEqual(packets, ['8060ffff00000010deadbeef6588', '80e0000000000010deadbeef4101']);
});

test('H.264: STAP-A takes what fits, FU-A what does not', () => {
  const { writer, packets } = collect(16);
  const big = `65${'ab'.repeat(20)}`;
  const frame = accessUnit('6742', '0801', big);
  new H264Packetizer({ aggregate: true, packetizationMode: 1 }, writer).packetize(frame, 0, frame.length, 0);
  assert.deepEqual(
    packets.map((packet) => packet.slice(24)),
    ['7800026742000208' + '01', `7c85${'ab'.repeat(14)}`, `7c45${'ab'.repeat(6)}`],
  );
  assert.deepEqual(
    packets.map((packet) => packet.slice(2, 4)),
    ['60', '60', 'e0'],
  );
});

test('H.264 mode 0 sends a large NAL unit whole, and refuses one that outgrows the buffer', () => {
  const { writer, packets } = collect(16);
  const packetizer = new H264Packetizer({ aggregate: true, packetizationMode: 0 }, writer);
  const frame = accessUnit('6742', `65${'00'.repeat(100)}`);
  packetizer.packetize(frame, 0, frame.length, 0);
  assert.deepEqual(
    packets.map((packet) => packet.length / 2),
    [14, 113],
  );
  const giant = accessUnit(`65${'00'.repeat(5000)}`);
  assert.throws(() => packetizer.packetize(giant, 0, giant.length, 0), RangeError);
});

test('H.265: aggregation and fragments carry decoding order numbers when asked', () => {
  const { writer, packets } = collect(16);
  const frame = accessUnit('400105', '420106', `2601${'cd'.repeat(20)}`);
  new H265Packetizer({ aggregate: true, donl: true }, writer).packetize(frame, 0, frame.length, 0);
  assert.deepEqual(
    packets.map((packet) => packet.slice(24)),
    [
      '6001' + '0000' + '0003400105' + '00' + '0003420106',
      `6201930002${'cd'.repeat(11)}`,
      `620153${'cd'.repeat(9)}`,
    ],
  );
});

test('the marker stays away while more of the access unit follows', () => {
  const { writer, packets } = collect(64);
  const sets = accessUnit('400101', '420101');
  const packetizer = new H265Packetizer({ aggregate: false, donl: false }, writer);
  packetizer.packetize(sets, 0, sets.length, 7, false);
  assert.deepEqual(
    packets.map((packet) => packet.slice(2, 4)),
    ['60', '60'],
  );
});

test('a broken length ends the walk without a packet of rubbish', () => {
  const { writer, packets } = collect(64);
  const frame = Buffer.from('00000002678000000009aa', 'hex');
  new H264Packetizer({ aggregate: true, packetizationMode: 1 }, writer).packetize(frame, 0, frame.length, 0);
  new H265Packetizer({ aggregate: true, donl: false }, writer).packetize(frame, 0, frame.length, 0);
  assert.deepEqual(
    packets.map((packet) => packet.slice(24)),
    ['6780', '6780'],
  );
});

test('AAC: one unit, several units, one unit over two packets', () => {
  const { writer, packets } = collect(16);
  packetizeAac(writer, Buffer.from('0102', 'hex'), 0, 2, 0);
  packetizeAacGroup(writer, Buffer.from('01020304', 'hex'), [0, 1, 4], 0);
  packetizeAac(writer, Buffer.alloc(20, 0xee), 0, 20, 0);
  packetizeAudioFrame(writer, Buffer.from('d5d5', 'hex'), 0, 2, 0);
  assert.deepEqual(
    packets.map((packet) => packet.slice(2, 4) + packet.slice(24)),
    [
      'e0' + '001000100102',
      'e0' + '00200008001801020304',
      `60001000a0${'ee'.repeat(12)}`,
      `e0001000a0${'ee'.repeat(8)}`,
      '60' + 'd5d5',
    ],
  );
});
