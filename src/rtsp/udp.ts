import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { RtspCounters } from './counters.js';
import { rtspError } from './errors.js';
import type { Pair } from './transport-header.js';

/** Packets of one track; the buffer is the receiver's to keep. */
export interface UdpHandler {
  onUdpRtp(trackIndex: number, packet: Buffer): void;
  onUdpRtcp(trackIndex: number, packet: Buffer): void;
}

/** What a burst of key frames needs; the kernel gives what its limit allows (rmem_max). */
const RECEIVE_BUFFER_BYTES = 4 << 20;
const BIND_ATTEMPTS = 32;

/** Opens what NAT and firewalls keep closed: an RTP header without payload, and an empty receiver report. */
const rtpPunch = Buffer.from([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const rtcpPunch = Buffer.from([0x80, 201, 0, 1, 0, 0, 0, 0]);

const bindSocket = (host: string, port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = createSocket({
      type: isIPv6(host) ? 'udp6' : 'udp4',
      recvBufferSize: RECEIVE_BUFFER_BYTES,
    });
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });

/** Two sockets side by side, the even port for RTP (RFC 3550 §11). */
const bindPair = async (host: string): Promise<[rtp: Socket, rtcp: Socket]> => {
  for (let attempt = 0; attempt < BIND_ATTEMPTS; attempt++) {
    const first = await bindSocket(host, 0);
    const { port } = first.address();
    const isEven = port % 2 === 0;
    try {
      const second = await bindSocket(host, isEven ? port + 1 : port - 1);
      return isEven ? [first, second] : [second, first];
    } catch {
      // The neighbour is taken: try elsewhere.
      first.close();
    }
  }
  throw rtspError('internal_error', 'no pair of free UDP ports was found');
};

/** The two UDP sockets of one track. */
export class UdpTrack {
  readonly ports: Pair;
  readonly #trackIndex: number;
  readonly #rtp: Socket;
  readonly #rtcp: Socket;
  readonly #handler: UdpHandler;
  readonly #counters: RtspCounters;
  /** Whose packets we take: the host that we are connected to, and the source that it named. */
  #hosts: readonly string[] = [];
  #rtcpPort = 0;
  #isClosed = false;

  private constructor(
    trackIndex: number,
    sockets: [Socket, Socket],
    handler: UdpHandler,
    counters: RtspCounters,
  ) {
    this.#trackIndex = trackIndex;
    [this.#rtp, this.#rtcp] = sockets;
    this.#handler = handler;
    this.#counters = counters;
    this.ports = { rtp: this.#rtp.address().port, rtcp: this.#rtcp.address().port };
    this.#rtp.on('message', (packet, from) => this.#onRtp(packet, from));
    this.#rtcp.on('message', (packet, from) => this.#onRtcp(packet, from));
    for (const socket of sockets) {
      // What a socket reports here belongs to one packet (no buffer, no route): the next one may do better.
      socket.on('error', () => {
        counters.droppedWrites += 1;
      });
    }
  }

  static async bind(
    trackIndex: number,
    localHost: string,
    handler: UdpHandler,
    counters: RtspCounters,
  ): Promise<UdpTrack> {
    return new UdpTrack(trackIndex, await bindPair(localHost), handler, counters);
  }

  /** Tells who sends; before, every packet is foreign. `ports` is null where the camera named none (OpenIPC). */
  setPeer(hosts: readonly string[], ports: Pair | null): void {
    this.#hosts = hosts;
    this.#rtcpPort = ports?.rtcp ?? 0;
    if (ports === null || hosts[0] === undefined) return;
    this.#send(this.#rtp, rtpPunch, ports.rtp);
    this.#send(this.#rtcp, rtcpPunch, ports.rtcp);
  }

  sendRtcp(packet: Buffer): void {
    if (this.#rtcpPort !== 0) this.#send(this.#rtcp, packet, this.#rtcpPort);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#rtp.close();
    this.#rtcp.close();
  }

  #onRtp(packet: Buffer, from: RemoteInfo): void {
    if (this.#isWelcome(packet, from)) this.#handler.onUdpRtp(this.#trackIndex, packet);
  }

  #onRtcp(packet: Buffer, from: RemoteInfo): void {
    if (!this.#isWelcome(packet, from)) return;
    if (this.#rtcpPort === 0) this.#rtcpPort = from.port;
    this.#handler.onUdpRtcp(this.#trackIndex, packet);
  }

  #isWelcome(packet: Buffer, from: RemoteInfo): boolean {
    if (this.#isClosed) return false;
    if (this.#hosts.includes(from.address)) {
      this.#counters.receivedBytes += packet.length;
      return true;
    }
    this.#counters.foreignUdpPackets += 1;
    return false;
  }

  #send(socket: Socket, packet: Buffer, port: number): void {
    const host = this.#hosts[0];
    if (this.#isClosed || host === undefined) return;
    socket.send(packet, port, host, (error) => {
      if (error !== null) this.#counters.droppedWrites += 1;
    });
  }
}
