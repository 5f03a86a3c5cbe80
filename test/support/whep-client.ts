import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';
import {
  DtlsClient,
  DtlsServer,
  HashAlgorithm,
  RTCDtlsTransport,
  SignatureAlgorithm,
  SrtcpSession,
  SrtpSession,
} from 'werift';
import { type ReportBlock, writeReceiverReport } from '../../src/rtp/rtcp-writer.js';
import { until } from './until.js';

export type ClientOptions = {
  /** `rtpmap` and `fmtp` of each payload type of video. */
  readonly video?: readonly OfferedPayload[];
  readonly audio?: readonly OfferedPayload[];
  /** Packets are counted, and not decrypted: a hundred of these must cost little. */
  readonly countOnly?: boolean;
  /** Told instead of the certificate's own. */
  readonly fingerprint?: string;
  /** Says where media is to go until it is connected, and never again: aioice and pion do so. */
  readonly nominatesOnce?: boolean;
  /** Signs with another key than the certificate's, as a thief of certificates would have to. */
  readonly foreignKey?: boolean;
};

export type OfferedPayload = { readonly payloadType: number; readonly map: string; readonly fmtp?: string };

export const H264_OFFER: OfferedPayload = {
  payloadType: 102,
  map: 'H264/90000',
  fmtp: 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f',
};

const STUN_COOKIE = 0x2112a442;
const BINDING_REQUEST = 0x0001;
const BINDING_SUCCESS = 0x0101;
const CHECK_EVERY_MS = 1_000;

const attribute = (type: number, value: Buffer): Buffer => {
  const padded = Buffer.alloc(4 + ((value.length + 3) & ~3));
  padded.writeUInt16BE(type, 0);
  padded.writeUInt16BE(value.length, 2);
  value.copy(padded, 4);
  return padded;
};

/** A STUN message with its integrity and fingerprint (RFC 8489 §14.5, §14.7). */
const stunMessage = (head: Buffer, attributes: readonly Buffer[], password: string): Buffer => {
  const unsigned = Buffer.concat([head, ...attributes]);
  unsigned.writeUInt16BE(unsigned.length - 20 + 24, 2);
  const mac = createHmac('sha1', password).update(unsigned).digest();
  const signed = Buffer.concat([unsigned, attribute(0x0008, mac)]);
  signed.writeUInt16BE(signed.length - 20 + 8, 2);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE((crc32(signed) ^ 0x5354554e) >>> 0);
  return Buffer.concat([signed, attribute(0x8028, checksum)]);
};

/** A binding request as a browser sends it (RFC 8445 §7.1). */
export const bindingRequest = (username: string, password: string, isNominating = true): Buffer => {
  const attributes = [
    attribute(0x0006, Buffer.from(username)),
    attribute(0x802a, randomBytes(8)),
    ...(isNominating ? [attribute(0x0025, Buffer.alloc(0))] : []),
    attribute(0x0024, Buffer.of(0x6e, 0, 0x1e, 0xff)),
  ];
  const head = Buffer.concat([Buffer.alloc(8), randomBytes(12)]);
  head.writeUInt16BE(BINDING_REQUEST, 0);
  head.writeUInt32BE(STUN_COOKIE, 4);
  return stunMessage(head, attributes, password);
};

export const isBindingRequest = (message: Buffer): boolean =>
  message.length >= 20 && message.readUInt16BE(0) === BINDING_REQUEST;

/** An IPv4 address as answers name it (RFC 8489 §14.2). */
const mappedAddress = ({ address, port }: RemoteInfo): Buffer => {
  const value = Buffer.of(0, 1, 0, 0, ...address.split('.').map(Number));
  value.writeUInt16BE(port ^ (STUN_COOKIE >>> 16), 2);
  value.writeUInt32BE((value.readUInt32BE(4) ^ STUN_COOKIE) >>> 0, 4);
  return attribute(0x0020, value);
};

/** The answer to a binding request, signed with the password of who answers; pion asks to be told its own address. */
export const bindingSuccess = (request: Buffer, password: string, from?: RemoteInfo): Buffer => {
  const head = Buffer.from(request.subarray(0, 20));
  head.writeUInt16BE(BINDING_SUCCESS, 0);
  return stunMessage(head, from === undefined ? [] : [mappedAddress(from)], password);
};

const transactionOf = (stun: Buffer): string => stun.toString('hex', 8, 20);

const mediaLines = (kind: string, mid: number, payloads: readonly OfferedPayload[]): string[] => [
  `m=${kind} 9 UDP/TLS/RTP/SAVPF ${payloads.map(({ payloadType }) => payloadType).join(' ')}`,
  'c=IN IP4 0.0.0.0',
  `a=mid:${mid}`,
  'a=recvonly',
  'a=rtcp-mux',
  ...payloads.flatMap(({ payloadType, map, fmtp }) => [
    `a=rtpmap:${payloadType} ${map}`,
    ...(fmtp === undefined ? [] : [`a=fmtp:${payloadType} ${fmtp}`]),
    `a=rtcp-fb:${payloadType} nack`,
    `a=rtcp-fb:${payloadType} nack pli`,
  ]),
];

/** Throws where pion does: at a payload type, of a refused section, too, that the answer doesn't explain. */
const assertPayloadTypesAreNamed = (sdp: string): void => {
  for (const section of sdp.split(/^(?=m=)/m).slice(1)) {
    const formats = /^m=(?:audio|video) \d+ \S+ (.*?)\r?$/m.exec(section)?.[1]?.split(' ') ?? [];
    for (const format of formats) {
      // RFC 3551 has names for these.
      if (['0', '8', '9'].includes(format) || section.includes(`\na=rtpmap:${format} `)) continue;
      throw new Error(`payload type not found: ${format}`);
    }
  }
};

/** What an answer says, as far as a client needs it. */
export const readAnswer = (sdp: string) => {
  const value = (name: string): string => new RegExp(`^a=${name}:(.*?)\\r?$`, 'm').exec(sdp)?.[1] ?? '';
  const [, , , , address = '', port = '0'] = value('candidate').split(' ');
  // Whoever answers chooses who begins the handshake: mediamtx does so itself.
  const isDtlsClient = value('setup') === 'active';
  const ssrcs = [...sdp.matchAll(/^a=ssrc:(\d+) /gm)].map((match) => Number(match[1]));
  return {
    ufrag: value('ice-ufrag'),
    pwd: value('ice-pwd'),
    address,
    port: Number(port),
    ssrcs,
    isDtlsClient,
  };
};

const foreignKey = (): string => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
};

type Certificate = Awaited<ReturnType<typeof RTCDtlsTransport.SetupCertificate>>;

/** A WebRTC viewer without a browser: ICE checks of its own, DTLS and SRTP by werift, no jitter buffer at all. */
export class WhepClient {
  readonly offer: string;
  /** Decrypted RTP and RTCP, in order of arrival. */
  readonly rtp: Buffer[] = [];
  readonly rtcp: Buffer[] = [];
  packets = 0;
  bytes = 0;
  isConnected = false;
  isClosedByServer = false;
  /** Called with each media packet as it came, with its header readable. */
  onPacket: ((packet: Buffer) => void) | null = null;
  /** Called with each datagram of the handshake and its number; true: it has been sent already, from elsewhere. */
  onHandshake: ((datagram: Buffer, index: number) => boolean) | null = null;
  answer: ReturnType<typeof readAnswer> = {
    ufrag: '',
    pwd: '',
    address: '',
    port: 0,
    ssrcs: [],
    isDtlsClient: false,
  };
  readonly ufrag = randomBytes(4).toString('hex');
  readonly pwd = randomBytes(12).toString('hex');
  readonly #options: ClientOptions;
  readonly #socket: Socket;
  readonly #certificate: Certificate;
  /** Checks of ours that were answered, by transaction. */
  readonly #answered = new Set<string>();
  #dtls: DtlsClient | DtlsServer | null = null;
  #srtp: SrtpSession | null = null;
  #srtcp: SrtcpSession | null = null;
  #checks: NodeJS.Timeout | undefined;
  #handshakes = 0;

  private constructor(options: ClientOptions, socket: Socket, certificate: Certificate) {
    this.#options = options;
    this.#socket = socket;
    this.#certificate = certificate;
    const { video = [H264_OFFER], audio = [] } = options;
    const sections = [
      ...(video.length === 0 ? [] : [mediaLines('video', 0, video)]),
      ...(audio.length === 0 ? [] : [mediaLines('audio', 1, audio)]),
    ];
    const mids = [...(video.length === 0 ? [] : [0]), ...(audio.length === 0 ? [] : [1])];
    const fingerprint = options.fingerprint ?? certificate.getFingerprints()[0]!.value;
    this.offer = [
      'v=0',
      'o=- 1 1 IN IP4 127.0.0.1',
      's=-',
      't=0 0',
      `a=group:BUNDLE ${mids.join(' ')}`,
      `a=ice-ufrag:${this.ufrag}`,
      `a=ice-pwd:${this.pwd}`,
      `a=fingerprint:sha-256 ${fingerprint}`,
      'a=setup:actpass',
      ...sections.flat(),
      '',
    ].join('\r\n');
  }

  static async create(options: ClientOptions = {}): Promise<WhepClient> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new WhepClient(options, socket, await RTCDtlsTransport.SetupCertificate());
  }

  get localPort(): number {
    return (this.#socket.address() as AddressInfo).port;
  }

  /** Takes the answer to the offer and begins. */
  start(answerSdp: string): void {
    assertPayloadTypesAreNamed(answerSdp);
    this.answer = readAnswer(answerSdp);
    this.#socket.on('message', (message, from) => this.#receive(message, from));
    this.check();
    const { nominatesOnce = false } = this.#options;
    this.#checks = setInterval(() => this.check(!nominatesOnce || !this.isConnected), CHECK_EVERY_MS);
  }

  check(isNominating = true): Buffer {
    const { ufrag, pwd } = this.answer;
    const request = bindingRequest(`${ufrag}:${this.ufrag}`, pwd, isNominating);
    this.send(request);
    return request;
  }

  send(datagram: Buffer): void {
    this.#socket.send(datagram, this.answer.port, this.answer.address);
  }

  /** Sends an RTCP packet as this viewer. */
  sendRtcp(rtcp: Buffer): void {
    this.send(this.#srtcp!.encrypt(rtcp));
  }

  /** Decrypts a media packet: for who has them counted only. */
  open(packet: Buffer): Buffer {
    return this.#srtp!.decrypt(packet);
  }

  /** Asks for packets again, one feedback packet for each (RFC 4585 §6.2.1). */
  nack(ssrc: number, ...sequences: number[]): void {
    for (const sequence of sequences) {
      const packet = Buffer.from([0x81, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
      packet.writeUInt32BE(ssrc, 8);
      packet.writeUInt16BE(sequence, 12);
      this.sendRtcp(packet);
    }
  }

  /** Asks for a keyframe. */
  pli(ssrc: number): void {
    const packet = Buffer.from([0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0]);
    packet.writeUInt32BE(ssrc, 8);
    this.sendRtcp(packet);
  }

  /** Says what came of a source, `fractionLost` in 1/256 (RFC 3550 §6.4.2). */
  report(block: Partial<ReportBlock> & { readonly ssrc: number; readonly extendedHighest: number }): void {
    const packet = Buffer.alloc(64);
    const nothing = { fractionLost: 0, cumulativeLost: 0, jitterTicks: 0 };
    const unknown = { lastSenderReport: 0, delaySinceLastSenderReport: 0 };
    const end = writeReceiverReport(packet, 0, 1, { ...nothing, ...unknown, ...block });
    this.sendRtcp(packet.subarray(0, end));
  }

  /** Resolves when all that was sent before has been read, and what that led to has come; or when the session is over. */
  async settle(): Promise<void> {
    const request = this.check();
    const isAnswered = (): boolean => this.#answered.has(transactionOf(request));
    await until('the check is answered', () => this.isClosedByServer || isAnswered());
  }

  /** The system keeps a packet or two for it and drops the rest: what comes costs this machine next to nothing. */
  hearLittle(): void {
    this.#socket.setRecvBufferSize(1);
  }

  /** Says nothing any more, but goes on listening. */
  fallSilent(): void {
    clearInterval(this.#checks);
  }

  close(): void {
    this.fallSilent();
    this.#socket.close();
  }

  #receive(message: Buffer, from: RemoteInfo): void {
    const first = message[0] ?? 0;
    if (isBindingRequest(message)) this.send(bindingSuccess(message, this.pwd, from));
    else if (first < 4) {
      this.#answered.add(transactionOf(message));
      this.#dtls ??= this.#startDtls();
    } else if (first < 64) this.#dtls?.transport.socket.onData(message, ['', 0]);
    else if (message[1]! >= 192 && message[1]! < 224) this.#onRtcp(message);
    else this.#onRtp(message);
  }

  #onRtp(message: Buffer): void {
    this.packets += 1;
    this.bytes += message.length;
    this.onPacket?.(message);
    if (this.#options.countOnly !== true && this.#srtp !== null) this.rtp.push(this.#srtp.decrypt(message));
  }

  #onRtcp(message: Buffer): void {
    if (this.#options.countOnly !== true && this.#srtcp !== null)
      this.rtcp.push(this.#srtcp.decrypt(message));
  }

  #startDtls(): DtlsClient | DtlsServer {
    const { certPem, privateKey } = this.#certificate;
    const options: DtlsClient['options'] = {
      cert: certPem,
      key: this.#options.foreignKey === true ? foreignKey() : privateKey,
      signatureHash: { hash: HashAlgorithm.sha256_4, signature: SignatureAlgorithm.ecdsa_3 },
      transport: {
        type: 'test',
        address: { address: '', port: 0, family: 'IPv4' },
        closed: false,
        onData: () => {},
        send: (datagram) => {
          if (this.onHandshake?.(datagram, this.#handshakes) !== true) this.send(datagram);
          this.#handshakes += 1;
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      },
      srtpProfiles: [1],
      extendedMasterSecret: true,
    };
    const side = this.answer.isDtlsClient ? new DtlsServer(options) : new DtlsClient(options);
    side.onConnect.subscribe(() => {
      const keys = side.extractSessionKeys(16, 14);
      const session = {
        profile: 1 as const,
        keys: {
          localMasterKey: keys.localKey,
          localMasterSalt: keys.localSalt,
          remoteMasterKey: keys.remoteKey,
          remoteMasterSalt: keys.remoteSalt,
        },
      };
      this.#srtp = new SrtpSession(session);
      this.#srtcp = new SrtcpSession(session);
      this.isConnected = true;
    });
    side.onClose.subscribe(() => {
      this.isClosedByServer = true;
    });
    if (side instanceof DtlsClient) side.connect().catch(() => {});
    return side;
  }
}
