import assert from 'node:assert/strict';
import { MAX_DOCUMENT_BYTES, readMetadata } from '../../../src/analytics/read-metadata.js';
import { MAX_REPLY_BYTES, readReply } from '../../../src/onvif/discovery/messages.js';
import { pulledNotices } from '../../../src/onvif/events/pulled-notices.js';
import { referenceOf } from '../../../src/onvif/events/reference.js';
import { readProfiles, readUri } from '../../../src/onvif/profiles.js';
import { fromCapabilities, fromServices } from '../../../src/onvif/services.js';
import { envelope, readAnswer } from '../../../src/onvif/soap.js';
import { modern, nested, notification, pixels } from '../../analytics/documents.js';
import { matchXml, replyXml } from '../../support/onvif/fake-announcer.js';
import type { Target } from '../target.js';

const WORDS = [
  '<!DOCTYPE a [',
  '<!ENTITY',
  '<![CDATA[',
  ']]>',
  '<!--',
  '-->',
  '&#x0;',
  '&amp;',
  'tt:',
  '/>',
  '</',
  '<?xml',
  '="',
];

const NOTICED = {
  ...{ topic: 'tns1:RuleEngine/tt:LineDetector/Crossed', operation: 'Changed' as const },
  ...{ source: { Rule: 'gate', VideoSourceToken: 'vs1' }, data: { State: 'true' } },
};

const metadata: Target = {
  seeds: [
    modern(1e12, [{ box: [0.1, 0.2, 0.3, 0.4] }]),
    pixels(1e12, { box: [0.1, 0.2, 0.3, 0.4] }),
    nested(1e12, { box: [0.1, 0.2, 0.3, 0.4] }),
    notification(1e12, NOTICED),
  ],
  words: WORDS,
  run: (input) => {
    assert.ok(input.length <= MAX_DOCUMENT_BYTES);
    const read = readMetadata(input);
    if ('refused' in read) return;
    for (const { objects } of read.scenes)
      for (const { score, box } of objects) {
        assert.ok(score >= 0 && score <= 1, `score ${score}`);
        for (const side of box) assert.ok(side >= 0 && side <= 1, `box ${box}`);
      }
  },
};

const discovery: Target = {
  seeds: [
    replyXml(
      matchXml(
        'urn:uuid:1',
        'http://10.1.2.3:8000/onvif/device_service',
        'onvif://www.onvif.org/name/Gate%20',
      ),
    ),
  ],
  words: [...WORDS, 'XAddrs', 'Scopes', 'http://', '%'],
  run: (input) => {
    for (const { address } of readReply(input.subarray(0, MAX_REPLY_BYTES), '10.1.2.3'))
      assert.equal(new URL(address).hostname, '10.1.2.3', 'another host than who sent it');
  },
};

const ASKED = new URL('http://10.1.2.3/onvif/device_service');

const soap: Target = {
  seeds: [
    envelope(
      '<tds:GetServicesResponse><tds:Service><tds:Namespace>http://www.onvif.org/ver10/media/wsdl</tds:Namespace><tds:XAddr>http://10.1.2.3/onvif/media</tds:XAddr></tds:Service></tds:GetServicesResponse>',
      '',
    ),
    envelope(
      '<trt:GetProfilesResponse><trt:Profiles token="a"><tt:VideoEncoderConfiguration><tt:Encoding>H264</tt:Encoding><tt:Resolution><tt:Width>640</tt:Width><tt:Height>360</tt:Height></tt:Resolution></tt:VideoEncoderConfiguration></trt:Profiles></trt:GetProfilesResponse>',
      '',
    ),
    envelope(
      '<s:Fault><s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>ter:NotAuthorized</s:Value></s:Subcode></s:Code><s:Reason><s:Text>no</s:Text></s:Reason></s:Fault>',
      '',
    ),
  ],
  words: [...WORDS, 'Profiles', 'token="', 'XAddr', 'Fault'],
  run: (input) => {
    const answer = readAnswer(input);
    if (answer.kind !== 'answer') return;
    const { element } = answer;
    fromServices(ASKED, '10.1.2.3', element);
    fromCapabilities(ASKED, '10.1.2.3', element);
    readProfiles('media', element);
    readProfiles('media2', element);
    readUri(element);
  },
};

const MESSAGE = /<wsnt:NotificationMessage.*NotificationMessage>/s.exec(notification(1e12, NOTICED))![0];

const events: Target = {
  seeds: [
    envelope(
      `<tev:PullMessagesResponse><tev:CurrentTime>2026-01-01T00:00:00Z</tev:CurrentTime>${MESSAGE}${MESSAGE}</tev:PullMessagesResponse>`,
      '',
    ),
    envelope(
      '<tev:CreatePullPointSubscriptionResponse xmlns:d="http://www.axis.com/2009/event"><tev:SubscriptionReference><wsa:Address>http://10.1.2.3/pull</wsa:Address><wsa:ReferenceParameters><d:SubscriptionId>4</d:SubscriptionId></wsa:ReferenceParameters></tev:SubscriptionReference></tev:CreatePullPointSubscriptionResponse>',
      '',
    ),
  ],
  words: [...WORDS, 'NotificationMessage', 'ReferenceParameters', 'xmlns:', 'SimpleItem', 'CurrentTime'],
  run: (input) => {
    const answer = readAnswer(input);
    if (answer.kind !== 'answer') return;
    const notices = pulledNotices(answer.element, new Set(['vs2']), 1e12, (told) => told);
    assert.ok(notices.length <= 64);
    for (const { topic, key, label } of notices)
      assert.ok(topic.length <= 128 && key.length <= 512 && label.length <= 128);
    const { xml, declarations } = referenceOf(input.toString('utf8'));
    assert.ok(xml.length <= 2_048 && declarations.length <= 32 * 350);
  },
};

export const xmlTargets = {
  'onvif-metadata': metadata,
  'onvif-discovery': discovery,
  'onvif-soap': soap,
  'onvif-events': events,
};
