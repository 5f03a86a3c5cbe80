import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { RtcpPacketConverter, RtcpRrPacket, SrtcpSession, SrtpSession } from 'werift';
import { sha1Block, sha1Start } from '../../../src/live/whep/secure/sha1.js';
import { SrtcpReceiver, SrtcpSender } from '../../../src/live/whep/secure/srtcp.js';
import { MAX_PACKET_BYTES, SrtpBatch, SrtpStream } from '../../../src/live/whep/secure/srtp-batch.js';
import { SRTP_PROFILE, SrtpKeys } from '../../../src/live/whep/secure/srtp-keys.js';

const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ''), 'hex');

/** A session of werift's that reads what we wrote with these keys, and writes what we read. */
const weriftKeys = (key: Buffer, salt: Buffer) => ({
  profile: SRTP_PROFILE as 1,
  keys: { localMasterKey: key, localMasterSalt: salt, remoteMasterKey: key, remoteMasterSalt: salt },
});

const plainPacket = (payload: Buffer): { words: Int32Array; lengthBytes: number } => {
  const memory = new ArrayBuffer(MAX_PACKET_BYTES + 4);
  payload.copy(Buffer.from(memory), 12);
  return { words: new Int32Array(memory), lengthBytes: 12 + payload.length };
};

test('keys are derived as in RFC 3711 B.3', () => {
  const key = hex('E1F97A0D3E018BE0D64FA32C06DE4139');
  const salt = hex('0EC675AD498AFEEBB6960B3AABE6');
  const keys = new SrtpKeys('rtp', key, salt);
  assert.equal(keys.salt.toString('hex').toUpperCase(), '30CBBC08863D8C85D49DB34A9AE1');
  assert.equal(keys.authKey.toString('hex').toUpperCase(), 'CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4');
  // The cipher's key shows in what it makes of a counter.
  const cipherKey = hex('C61E7A93744F39EE10734AFE3FF7A087');
  const block = randomBytes(16);
  const reference = new SrtpKeys('rtp', key, salt).cipher.update(block);
  assert.deepEqual(keys.cipher.update(block), reference);
  assert.deepEqual(reference, ecb(cipherKey, block));
});

const ecb = (key: Buffer, block: Buffer): Buffer => {
  const { createCipheriv } = process.getBuiltinModule('node:crypto');
  return createCipheriv('aes-128-ecb', key, null).update(block);
};

test('one block of SHA-1 in JavaScript ends a hash that OpenSSL agrees with', () => {
  const message = Buffer.from('abc');
  const block = Buffer.alloc(64);
  message.copy(block);
  block[message.length] = 0x80;
  block.writeUInt32BE(message.length * 8, 60);
  const state = sha1Start();
  sha1Block(
    state,
    state,
    Int32Array.from({ length: 16 }, (_, i) => block.readInt32BE(i * 4)),
  );
  const digest = Buffer.alloc(20);
  for (let i = 0; i < 5; i += 1) digest.writeInt32BE(state[i]!, i * 4);
  assert.deepEqual(digest, createHash('sha1').update(message).digest());
});

test('what a batch secures, another implementation opens, whatever its size, across a rollover', () => {
  const batch = new SrtpBatch();
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 1200 }), { minLength: 1, maxLength: 32 }),
      fc.integer({ min: 0, max: 0x18000 }),
      fc.integer({ min: 0, max: 0xffffffff }),
      (sizes, firstIndex, ssrc) => {
        const key = randomBytes(16);
        const salt = randomBytes(14);
        const keys = new SrtpKeys('rtp', key, salt);
        const stream = new SrtpStream(keys, ssrc, 102);
        const reader = new SrtpSession(weriftKeys(key, salt));
        const payloads = sizes.map((size) => randomBytes(size));
        // A receiver learns of a rollover by the packets around it.
        const indices = firstIndex > 0xffff ? [0, 0x8000, 0xffff, 0x10000] : [0];
        for (const index of indices) {
          batch.begin();
          const { words, lengthBytes } = plainPacket(Buffer.of(1));
          batch.add(stream, words, 0, lengthBytes, false, index, 0);
          batch.seal(keys);
          reader.decrypt(Buffer.from(batch.packet(0)));
        }
        batch.begin();
        for (const [i, payload] of payloads.entries()) {
          const { words, lengthBytes } = plainPacket(payload);
          batch.add(
            stream,
            words,
            0,
            lengthBytes,
            i === payloads.length - 1,
            firstIndex + i,
            0xfffffff0 + i * 90,
          );
        }
        batch.seal(keys);
        for (const [i, payload] of payloads.entries()) {
          const opened = reader.decrypt(Buffer.from(batch.packet(i)));
          assert.deepEqual(opened.subarray(12), payload);
          assert.equal(opened.readUInt16BE(2), (firstIndex + i) & 0xffff);
          assert.equal(opened.readUInt32BE(4), (0xfffffff0 + i * 90) >>> 0);
          assert.equal(opened.readUInt32BE(8), ssrc);
          assert.equal(opened[1], (i === payloads.length - 1 ? 0x80 : 0) | 102);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('the tag is the HMAC of packet and rollover counter', () => {
  const keys = new SrtpKeys('rtp', randomBytes(16), randomBytes(14));
  const stream = new SrtpStream(keys, 7, 96);
  const batch = new SrtpBatch();
  batch.begin();
  const { words, lengthBytes } = plainPacket(randomBytes(333));
  batch.add(stream, words, 0, lengthBytes, true, 0x01020304 * 0x10000 + 5, 90);
  batch.seal(keys);
  const packet = Buffer.from(batch.packet(0));
  const signed = Buffer.concat([packet.subarray(0, -10), Buffer.of(1, 2, 3, 4)]);
  const expected = createHmac('sha1', keys.authKey).update(signed).digest().subarray(0, 10);
  assert.deepEqual(packet.subarray(-10), expected);
});

test('RTCP goes both ways between us and another implementation, and a repeated packet is refused', () => {
  const key = randomBytes(16);
  const salt = randomBytes(14);
  const other = new SrtcpSession(weriftKeys(key, salt));
  const report = new RtcpRrPacket({ ssrc: 5 }).serialize();
  const sender = new SrtcpSender(new SrtpKeys('rtcp', key, salt));
  for (let i = 0; i < 3; i += 1) {
    assert.deepEqual(other.decrypt(sender.protect(report)), report);
  }
  const receiver = new SrtcpReceiver(new SrtpKeys('rtcp', key, salt));
  const sealed = other.encrypt(Buffer.concat([report, report]));
  const opened = receiver.open(sealed);
  assert.ok(opened);
  assert.equal(RtcpPacketConverter.deSerialize(opened).length, 2);
  assert.equal(receiver.open(sealed), null);
  const forged = other.encrypt(report);
  forged[9] = forged[9]! ^ 1;
  assert.equal(receiver.open(forged), null);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => receiver.open(Buffer.from(bytes)) === null),
  );
});
