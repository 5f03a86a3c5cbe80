import { clientNetwork } from '../../../base/client-address.js';
import type { Clock } from '../../../base/clock.js';
import type { RtcpHandler } from '../../../rtp/rtcp.js';
import { parseRtcp } from '../../../rtp/rtcp.js';
import type { Admission } from '../admission.js';
import { UdpPacer } from '../send/udp-pacer.js';
import { Session } from './session.js';

/** Of all cameras together; a session is a few hundred bytes, and what waits for its viewer. */
const MAX_SESSIONS = 2_000;

/** Without a connection nothing else bounds how many streams an address is sent: few players close theirs. */
const MAX_UNCONNECTED_OF_NETWORK = 16;

const ignored = (): void => {};

/** All sessions of the service, by id, and by where their viewers' reports come from. */
export class Sessions {
  readonly #clock: Clock;
  readonly #pacer: UdpPacer;
  readonly #byId = new Map<string, Session>();
  readonly #onEnd = new Map<Session, (reason: string | null) => void>();
  /** Over UDP, by `address port`. */
  readonly #byReports = new Map<string, Session>();
  /** The networks of those whose connection is gone. */
  readonly #unconnected = new Map<Session, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#pacer = new UdpPacer(clock);
  }

  get isFull(): boolean {
    return this.#byId.size >= MAX_SESSIONS;
  }

  get(id: string): Session | undefined {
    return this.#byId.get(id);
  }

  /** `onEnd`: told when it is over, with null where its client said so. */
  open(admission: Admission, onEnd: (reason: string | null) => void): Session {
    const session = new Session(admission, this.#clock.monotonicMs(), {
      pacer: this.#pacer,
      onEnd: (ended, reason) => this.#forget(ended, reason),
    });
    this.#byId.set(session.id, session);
    this.#onEnd.set(session, onEnd);
    return session;
  }

  /** Its connection is gone. True: it goes on, for as long as its viewer reports. */
  outlives(session: Session, address: string): boolean {
    const network = clientNetwork(address);
    const others = [...this.#unconnected.values()].filter((other) => other === network).length;
    if (others >= MAX_UNCONNECTED_OF_NETWORK) return false;
    this.#unconnected.set(session, network);
    return true;
  }

  /** Reports from there are signs of life. */
  expectReports(session: Session, address: string, port: number): void {
    this.#byReports.set(`${address} ${port}`, session);
  }

  /** A track was set up anew, with other ports. */
  forgetReports(session: Session, address: string, port: number): void {
    const from = `${address} ${port}`;
    if (this.#byReports.get(from) === session) this.#byReports.delete(from);
  }

  /** A datagram came to an RTCP port: from whoever it likes, and whatever it is. */
  onRtcp(packet: Buffer, address: string, port: number): void {
    const session = this.#byReports.get(`${address} ${port}`);
    if (session === undefined) return;
    let hasLeft = false;
    const handler: RtcpHandler = {
      onSenderReport: ignored,
      onReportBlock: ignored,
      onSourceDescription: ignored,
      onOther: ignored,
      onBye: () => {
        hasLeft = true;
      },
    };
    if (!parseRtcp(packet, 0, packet.length, handler)) return;
    session.heard(this.#clock.monotonicMs());
    if (hasLeft && session.isPlaying) session.end(null);
  }

  /** Ends those that gave no sign of life; once a second or so. */
  tick(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const session of [...this.#byId.values()])
      if (session.isSilent(nowMs)) session.end('no sign of life came');
  }

  stop(): void {
    for (const session of [...this.#byId.values()]) session.end('the service is stopping');
    this.#pacer.stop();
  }

  #forget(session: Session, reason: string | null): void {
    this.#byId.delete(session.id);
    this.#unconnected.delete(session);
    for (const [from, other] of this.#byReports) if (other === session) this.#byReports.delete(from);
    const onEnd = this.#onEnd.get(session);
    this.#onEnd.delete(session);
    onEnd?.(reason);
  }
}
