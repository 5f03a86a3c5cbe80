import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseH264Sps } from '../../src/codec/h264-sps.js';
import { parseH265Sps, parseH265Vps } from '../../src/codec/h265-sps.js';
import { BitWriter } from './bit-writer.js';

type H264Fields = {
  profileIdc: number;
  constraints: number;
  chromaFormatIdc: number;
  hasScalingLists: boolean;
  orderCountType: number;
  widthMbs: number;
  heightMapUnits: number;
  isInterlaced: boolean;
  crop: readonly [number, number, number, number] | null;
  unitsInTick: number;
  timeScale: number;
  hrdCount: number;
  reorderDepth: number | null;
};

const plainH264: H264Fields = {
  profileIdc: 100,
  constraints: 0,
  chromaFormatIdc: 1,
  hasScalingLists: false,
  orderCountType: 0,
  widthMbs: 80,
  heightMapUnits: 45,
  isInterlaced: false,
  crop: null,
  unitsInTick: 1,
  timeScale: 50,
  hrdCount: 0,
  reorderDepth: null,
};

const writeScalingLists = (bits: BitWriter, lists: number): void => {
  for (let list = 0; list < lists; list += 1) {
    bits.u(1, list % 3 === 0 ? 0 : 1);
    if (list % 3 === 0) continue;
    // A list that ends early by a zero, then a full one.
    if (list % 3 === 1) bits.se(4).se(-12);
    else for (let index = 0; index < (list < 6 ? 16 : 64); index += 1) bits.se(index % 2 === 0 ? 3 : -2);
  }
};

const writeOrderCount = (bits: BitWriter, type: number): void => {
  bits.ue(type);
  if (type === 0) bits.ue(4);
  if (type === 1) bits.u(1, 0).se(-5).se(7).ue(3).se(1).se(-2).se(300);
};

const writeH264Vui = (bits: BitWriter, fields: H264Fields): void => {
  bits.u(1, 1).u(1, 1).u(8, 255).u(32, 0x00030004); // extended aspect ratio
  bits.u(1, 1).u(1, 0).u(1, 1).u(4, 11).u(1, 1).u(24, 0x010101).u(1, 1).ue(0).ue(1);
  bits.u(1, 1).u(32, fields.unitsInTick).u(32, fields.timeScale).u(1, 1);
  bits.u(1, fields.hrdCount > 0 ? 1 : 0);
  if (fields.hrdCount > 0) {
    bits.ue(fields.hrdCount - 1).u(8, 0x12);
    for (let index = 0; index < fields.hrdCount; index += 1) bits.ue(1000).ue(70_000).u(1, 0);
    bits.u(20, 0x12345);
  }
  bits.u(1, 0);
  if (fields.hrdCount > 0) bits.u(1, 0);
  bits.u(1, 1).u(1, fields.reorderDepth === null ? 0 : 1);
  if (fields.reorderDepth !== null) bits.u(1, 1).ue(0).ue(0).ue(16).ue(16).ue(fields.reorderDepth).ue(4);
};

const h264Sps = (fields: H264Fields): Buffer => {
  const bits = new BitWriter().u(8, fields.profileIdc).u(8, fields.constraints).u(8, 40).ue(0);
  if (fields.profileIdc >= 100) {
    bits.ue(fields.chromaFormatIdc);
    if (fields.chromaFormatIdc === 3) bits.u(1, 0);
    bits
      .ue(0)
      .ue(0)
      .u(1, 0)
      .u(1, fields.hasScalingLists ? 1 : 0);
    if (fields.hasScalingLists) writeScalingLists(bits, fields.chromaFormatIdc === 3 ? 12 : 8);
  }
  bits.ue(4);
  writeOrderCount(bits, fields.orderCountType);
  bits
    .ue(1)
    .u(1, 0)
    .ue(fields.widthMbs - 1)
    .ue(fields.heightMapUnits - 1);
  bits.u(1, fields.isInterlaced ? 0 : 1);
  if (fields.isInterlaced) bits.u(1, 1);
  bits.u(1, 1).u(1, fields.crop === null ? 0 : 1);
  for (const side of fields.crop ?? []) bits.ue(side);
  writeH264Vui(bits, fields);
  return bits.nal([0x67]);
};

const readH264 = (fields: Partial<H264Fields>) => {
  const nal = h264Sps({ ...plainH264, ...fields });
  return parseH264Sps(nal, 0, nal.length);
};

test('property: an H.264 SPS of any shape gives back what went in', () => {
  const shapes = fc.record({
    profileIdc: fc.constantFrom(77, 88, 100, 110, 122, 244),
    constraints: fc.constant(0),
    chromaFormatIdc: fc.nat(3),
    hasScalingLists: fc.boolean(),
    orderCountType: fc.nat(1),
    widthMbs: fc.integer({ min: 4, max: 512 }),
    heightMapUnits: fc.integer({ min: 4, max: 512 }),
    isInterlaced: fc.boolean(),
    crop: fc.option(fc.tuple(fc.nat(7), fc.nat(7), fc.nat(7), fc.nat(7))),
    unitsInTick: fc.integer({ min: 1, max: 1001 }),
    timeScale: fc.integer({ min: 2002, max: 120_000 }),
    hrdCount: fc.nat(3),
    reorderDepth: fc.option(fc.nat(16)),
  });
  fc.assert(
    fc.property(shapes, (fields) => {
      const sps = readH264(fields);
      const chroma = fields.profileIdc >= 100 ? fields.chromaFormatIdc : 1;
      const unitX = chroma === 1 || chroma === 2 ? 2 : 1;
      const unitY = (chroma === 1 ? 2 : 1) * (fields.isInterlaced ? 2 : 1);
      const [left, right, top, bottom] = fields.crop ?? [0, 0, 0, 0];
      const rateHz = fields.timeScale / (2 * fields.unitsInTick);
      assert.equal(sps?.width, fields.widthMbs * 16 - (left + right) * unitX);
      const codedHeight = fields.heightMapUnits * (fields.isInterlaced ? 32 : 16);
      assert.equal(sps.height, codedHeight - (top + bottom) * unitY);
      assert.equal(sps.frameRateHz, rateHz <= 480 ? rateHz : null);
      assert.equal(sps.reorderDepth, fields.reorderDepth);
    }),
  );
});

test('H.264 profiles and order types that have no B-frames need no VUI for it', () => {
  assert.equal(readH264({})?.reorderDepth, null);
  assert.equal(readH264({ orderCountType: 2 })?.reorderDepth, 0);
  assert.equal(readH264({ profileIdc: 66 })?.reorderDepth, 0);
  assert.equal(readH264({ profileIdc: 122, constraints: 0x10 })?.reorderDepth, 0);
  assert.equal(readH264({ profileIdc: 77, constraints: 0x10 })?.reorderDepth, null);
});

test('H.264: sizes that no camera has are refused, crops that eat the picture are ignored', () => {
  assert.equal(readH264({ widthMbs: 1025 }), null);
  assert.equal(readH264({ widthMbs: 2 ** 31 }), null);
  assert.equal(readH264({ heightMapUnits: 600, isInterlaced: true }), null);
  assert.equal(readH264({ crop: [0, 640, 0, 0] })?.width, 1280);
  assert.equal(readH264({ crop: [0, 639, 0, 0] })?.width, 2);
});

test('H.264: timing that is no timing is null', () => {
  assert.equal(readH264({ timeScale: 0 })?.frameRateHz, null);
  assert.equal(readH264({ unitsInTick: 0 })?.frameRateHz, null);
  assert.equal(readH264({ timeScale: 4_000_000_000 })?.frameRateHz, null);
});

/** profile_tier_level with both kinds of sub-layer information. */
const writeProfile = (bits: BitWriter, subLayers: number): void => {
  bits.u(2, 0).u(1, 0).u(5, 1).u(32, 0x60000000).u(8, 0xb0).u(32, 0).u(8, 0).u(8, 93);
  for (let layer = 1; layer < subLayers; layer += 1) bits.u(1, layer % 2).u(1, 1);
  if (subLayers > 1) bits.u(2 * (9 - subLayers), 0);
  for (let layer = 1; layer < subLayers; layer += 1) {
    if (layer % 2 === 1) bits.u(32, 1).u(32, 2).u(24, 3);
    bits.u(8, 90);
  }
};

const writeH265ScalingLists = (bits: BitWriter): void => {
  for (let sizeId = 0; sizeId < 4; sizeId += 1) {
    for (let matrixId = 0; matrixId < 6; matrixId += sizeId === 3 ? 3 : 1) {
      if (matrixId === 0) {
        bits.u(1, 1);
        if (sizeId > 1) bits.se(8);
        for (let index = 0; index < Math.min(64, 1 << (4 + 2 * sizeId)); index += 1) bits.se(index % 5);
      } else bits.u(1, 0).ue(1);
    }
  }
};

/**
 * Three sets: two pictures back and one ahead; then the same moved on by one, where the picture ahead becomes
 * the current one and falls out; then one predicted from that, which only parses if the fall-out was seen.
 */
const writeRefPics = (bits: BitWriter): void => {
  bits.ue(3);
  bits.ue(2).ue(1).ue(0).u(1, 1).ue(1).u(1, 1).ue(0).u(1, 1); // -1, -3, +1
  bits.u(1, 1).u(1, 1).ue(0); // predicted, deltaRps -1
  bits.u(1, 1).u(1, 1).u(1, 1).u(1, 1); // -2, -4, 0 (falls out), -1
  bits.u(1, 1).u(1, 1).ue(1); // predicted, deltaRps -2, from three pictures
  bits.u(1, 1).u(1, 0).u(1, 0).u(1, 1).u(1, 0).u(1, 1);
  bits.u(1, 1).ue(2).u(8, 17).u(1, 1).u(8, 200).u(1, 0); // long-term pictures
};

const h265Sps = (subLayers: number, window: readonly number[] | null, timeScale: number): Buffer => {
  const bits = new BitWriter()
    .u(4, 0)
    .u(3, subLayers - 1)
    .u(1, 1);
  writeProfile(bits, subLayers);
  bits
    .ue(3)
    .ue(1)
    .ue(1928)
    .ue(1088)
    .u(1, window === null ? 0 : 1);
  for (const side of window ?? []) bits.ue(side);
  bits.ue(0).ue(0).ue(4).u(1, 1);
  for (let layer = 0; layer < subLayers; layer += 1)
    bits
      .ue(4)
      .ue(layer + 1)
      .ue(0);
  bits.ue(0).ue(3).ue(0).ue(3).ue(2).ue(2).u(1, 1).u(1, 1);
  writeH265ScalingLists(bits);
  bits.u(2, 3).u(1, 1).u(8, 0x77).ue(0).ue(2).u(1, 1);
  writeRefPics(bits);
  bits
    .u(2, 3)
    .u(1, 1)
    .u(1, 1)
    .u(8, 255)
    .u(32, 0x00010001)
    .u(1, 1)
    .u(1, 1)
    .u(1, 1)
    .u(4, 10)
    .u(1, 1)
    .u(24, 0x010101);
  bits.u(1, 1).ue(0).ue(0).u(3, 0).u(1, 1).ue(0).ue(0).ue(0).ue(4).u(1, 1).u(32, 1001).u(32, timeScale);
  return bits.nal([0x42, 0x01]);
};

test('H.265: sub-layers, scaling lists, predicted and long-term reference pictures are passed on the way', () => {
  for (const subLayers of [1, 2, 5, 7]) {
    const nal = h265Sps(subLayers, [0, 4, 0, 4], 30_000);
    const { profile, ...sps } = parseH265Sps(nal, 0, nal.length)!;
    assert.deepEqual(sps, {
      id: 3,
      vpsId: 0,
      temporalLayers: subLayers,
      isTemporalIdNested: true,
      chromaFormatIdc: 1,
      bitDepthLuma: 8,
      bitDepthChroma: 8,
      width: 1920,
      height: 1080,
      frameRateHz: 30_000 / 1001,
      reorderDepth: subLayers,
    });
    assert.equal(profile.levelIdc, 93);
  }
});

test('H.265: a tail that is cut off anywhere costs no more than reordering and rate', () => {
  const nal = h265Sps(2, [0, 4, 0, 4], 30_000);
  for (let end = nal.length - 1; end > 48; end -= 1) {
    const sps = parseH265Sps(nal, 0, end);
    assert.deepEqual([sps?.width, sps?.height], [1920, 1080], `cut at ${end} of ${nal.length}`);
    assert.ok(sps?.frameRateHz === null || end === nal.length - 1);
  }
});

test('H.265: a window that eats the picture is ignored', () => {
  const nal = h265Sps(1, [0, 964, 0, 0], 30_000);
  assert.equal(parseH265Sps(nal, 0, nal.length)?.width, 1928);
});

test('H.265: the VPS tells the rate where the SPS has none', () => {
  const bits = new BitWriter().u(4, 5).u(8, 0xc0).u(3, 2).u(1, 1).u(16, 0xffff);
  writeProfile(bits, 3);
  bits.u(1, 0).ue(4).ue(2).ue(0).u(6, 1).ue(2).u(4, 0b0110).u(1, 1).u(32, 1).u(32, 20).u(1, 0);
  const nal = bits.nal([0x40, 0x01]);
  assert.deepEqual(parseH265Vps(nal, 0, nal.length), { id: 5, frameRateHz: 20 });
  assert.deepEqual(parseH265Vps(nal, 0, 12), { id: 5, frameRateHz: null });
});
