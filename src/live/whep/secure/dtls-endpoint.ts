import { verify, X509Certificate } from 'node:crypto';
import type { DtlsServer } from 'werift';
import { type DtlsCertificate, fingerprintOf } from './certificate.js';
import { MASTER_KEY_BYTES, MASTER_SALT_BYTES, SRTP_PROFILE } from './srtp-keys.js';

/** Master keys and salts of both directions (RFC 5764 §4.2). */
export type SessionKeys = {
  readonly localKey: Buffer;
  readonly localSalt: Buffer;
  readonly remoteKey: Buffer;
  readonly remoteSalt: Buffer;
};

export type DtlsEvents = {
  send(datagram: Buffer): void;
  /** The handshake is done, and the viewer is the one that the offer named. */
  onKeys(keys: SessionKeys): void;
  /** The viewer said goodbye, or isn't who it should be. */
  onClosed(reason: string): void;
};

const HANDSHAKE_RECORD = 22;
const ALERT_RECORD = 21;
const CLIENT_HELLO = 1;
const CERTIFICATE_VERIFY = 15;
const RECORD_HEADER_BYTES = 13;
const DTLS_1_2 = { major: 254, minor: 253 };
const CLOSE_NOTIFY = Buffer.of(1, 0);
/** Far beyond the numbers of the handshake's records: each may be used once. */
const GOODBYE_SEQUENCE = 0x10000;
/** A handshake takes about six datagrams; what goes on for longer is no viewer. */
const MAX_HANDSHAKE_DATAGRAMS = 100;

/** Hashes of signatures that TLS 1.2 names by number (RFC 5246 §7.4.1.4.1). */
const hashNames: Readonly<Record<number, string>> = { 4: 'sha256', 5: 'sha384', 6: 'sha512' };
/** The signature kinds: RSA with PKCS #1 v1.5, and ECDSA. */
const signatureKinds = [1, 3];

/** werift takes 50 ms to load: done once, while the first viewer's browser reads our answer. */
let loading: Promise<typeof import('werift')> | null = null;

export const loadDtls = (): Promise<typeof import('werift')> => {
  loading ??= import('werift');
  return loading;
};

/** The server's side of one DTLS handshake (RFC 6347) by werift, and what it leaves to its caller to check. */
export class DtlsEndpoint {
  readonly #server: DtlsServer;
  readonly #events: DtlsEvents;
  readonly #fingerprints: readonly string[];
  #datagrams = 0;
  #isDone = false;
  #hasFailed = false;

  constructor(
    library: typeof import('werift'),
    own: DtlsCertificate,
    remoteFingerprints: readonly string[],
    events: DtlsEvents,
  ) {
    this.#events = events;
    this.#fingerprints = remoteFingerprints;
    this.#server = new library.DtlsServer({
      cert: own.certPem,
      key: own.keyPem,
      signatureHash: {
        hash: library.HashAlgorithm.sha256_4,
        signature: library.SignatureAlgorithm.ecdsa_3,
      },
      transport: this.#transport() as never,
      srtpProfiles: [SRTP_PROFILE],
      extendedMasterSecret: true,
      certificateRequest: true,
    });
    this.#server.onConnect.subscribe(() => this.#finish());
    this.#server.onClose.subscribe(() => this.#close('the viewer closed the session'));
    this.#server.onError.subscribe((fault) => this.#close(`the handshake failed: ${String(fault)}`));
  }

  /** Takes a datagram that begins like DTLS (RFC 7983 §7). */
  receive(datagram: Buffer): void {
    this.#datagrams += 1;
    if (this.#isDone ? !isClosing(datagram) : this.#datagrams > MAX_HANDSHAKE_DATAGRAMS) return;
    try {
      this.#server.transport.socket.onData(datagram, ['', 0]);
    } catch {
      // It wasn't DTLS after all; whoever sent it may try again.
    }
  }

  /** Tells the viewer that nothing more comes (RFC 5246 §7.2.1): a browser would else wait for a while. */
  sayGoodbye(): void {
    if (!this.#isDone || this.#hasFailed) return;
    const { cipher } = this.#server;
    const sealed = cipher.encryptPacket({
      recordLayerHeader: {
        contentType: ALERT_RECORD,
        protocolVersion: DTLS_1_2,
        epoch: 1,
        sequenceNumber: GOODBYE_SEQUENCE,
        contentLen: CLOSE_NOTIFY.length,
      },
      fragment: CLOSE_NOTIFY,
    } as Parameters<typeof cipher.encryptPacket>[0]);
    const header = Buffer.alloc(RECORD_HEADER_BYTES);
    header[0] = ALERT_RECORD;
    header[1] = DTLS_1_2.major;
    header[2] = DTLS_1_2.minor;
    header.writeUInt16BE(1, 3); // epoch
    header.writeUIntBE(GOODBYE_SEQUENCE, 5, 6); // sequence number
    header.writeUInt16BE(sealed.fragment.length, 11); // length
    this.#events.send(Buffer.concat([header, sealed.fragment]));
  }

  #transport(): object {
    return {
      type: 'ice',
      address: undefined,
      closed: false,
      onData: () => {},
      send: (datagram: Buffer): Promise<void> => {
        this.#events.send(datagram);
        return Promise.resolve();
      },
      close: () => Promise.resolve(),
    };
  }

  #finish(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const fault = this.#faultOfViewer();
    if (fault !== null) {
      this.#close(fault);
      return;
    }
    this.#events.onKeys(this.#server.extractSessionKeys(MASTER_KEY_BYTES, MASTER_SALT_BYTES));
  }

  /** The certificate must be the one in the offer, and the viewer must hold its key; werift checks neither. */
  #faultOfViewer(): string | null {
    const certificate = this.#server.remoteCertificate;
    if (certificate === undefined) return 'the viewer sent no certificate';
    if (this.#server.srtp.srtpProfile !== SRTP_PROFILE) return 'the viewer has no SRTP profile of ours';
    const expected = `sha-256 ${fingerprintOf(certificate)}`.toLowerCase();
    if (!this.#fingerprints.some((fingerprint) => fingerprint.toLowerCase() === expected)) {
      return "the viewer's certificate is not the one in its offer";
    }
    return this.#provesKey(certificate) ? null : "the viewer doesn't prove its certificate";
  }

  /** Checks CertificateVerify: a signature over all handshake messages before it (RFC 5246 §7.4.8). */
  #provesKey(certificate: Buffer): boolean {
    const messages = this.#server.dtls.sortedHandshakeCache;
    const at = messages.findIndex(({ msg_type }) => msg_type === CERTIFICATE_VERIFY);
    const body = messages[at]?.fragment;
    if (body === undefined || body.length < 4) return false;
    const hashName = hashNames[body[0]!];
    const end = 4 + body.readUInt16BE(2);
    if (hashName === undefined || !signatureKinds.includes(body[1]!) || end > body.length) return false;
    try {
      const signed = Buffer.concat(messages.slice(0, at).map((message) => message.serialize()));
      const { publicKey } = new X509Certificate(certificate);
      return verify(hashName, signed, publicKey, body.subarray(4, end));
    } catch {
      return false;
    }
  }

  #close(reason: string): void {
    this.#isDone = true;
    this.#hasFailed = true;
    this.#events.onClosed(reason);
  }
}

/**
 * What may still come once the handshake is done: an alert, or repeats of the viewer's last flight because ours got
 * lost. A new ClientHello, which anybody could forge, would make werift begin anew.
 */
const isClosing = (datagram: Buffer): boolean =>
  datagram[0] === ALERT_RECORD || (datagram[0] === HANDSHAKE_RECORD && datagram[13] !== CLIENT_HELLO);
