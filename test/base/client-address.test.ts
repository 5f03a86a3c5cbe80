import assert from 'node:assert/strict';
import { SocketAddress } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { clientNetwork, isLoopback, plainAddress } from '../../src/base/client-address.js';

test('an IPv4 address in IPv6 is that IPv4 address, however it is spelled', () => {
  for (const spelled of ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:c000:207', '0:0:0:0:0:ffff:192.0.2.7']) {
    assert.equal(plainAddress(spelled), '192.0.2.7');
    assert.equal(clientNetwork(spelled), '192.0.2.7');
  }
  assert.equal(plainAddress('2001:db8::7'), '2001:db8::7');
});

test('IPv6 addresses of one /64 are one client', () => {
  const one = clientNetwork('2001:db8:1:2::7');
  for (const same of ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:0DB8:1:2::', '2001:db8:1:2::192.0.2.7'])
    assert.equal(clientNetwork(same), one);
  assert.notEqual(clientNetwork('2001:db8:1:3::7'), one);
  assert.equal(clientNetwork('fe80::1%eth0'), clientNetwork('fe80::2%eth1'));
});

test('the port that a proxy forwards along is no part of the client', () => {
  for (const spelled of ['192.0.2.7:51234', '[::ffff:192.0.2.7]:51234', '[::ffff:c000:207]'])
    assert.deepEqual([plainAddress(spelled), clientNetwork(spelled)], ['192.0.2.7', '192.0.2.7']);
  assert.equal(plainAddress('[2001:db8::7]:80'), '2001:db8::7');
  assert.equal(clientNetwork('[2001:db8::7]:80'), clientNetwork('2001:db8::8'));
});

test('this very machine is told from all others', () => {
  for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']) assert.ok(isLoopback(address));
  for (const address of ['128.0.0.1', '::2', '1270.0.0.1', 'localhost', '']) assert.ok(!isLoopback(address));
});

test('what is no address stands for itself', () => {
  for (const text of ['', 'a', ':', ':::', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', 'unix:'])
    assert.equal(clientNetwork(text), text);
});

test('every spelling of an address belongs to the same network as the canonical one', () => {
  fc.assert(
    fc.property(fc.ipV6(), (spelled) => {
      const { address } = new SocketAddress({ address: spelled, family: 'ipv6' });
      assert.equal(clientNetwork(spelled), clientNetwork(address));
      assert.equal(plainAddress(spelled) === spelled, !/^::ffff:\d+\./.test(address));
    }),
    { numRuns: 2_000 },
  );
  fc.assert(fc.property(fc.string(), (text) => typeof clientNetwork(text) === 'string'));
});
