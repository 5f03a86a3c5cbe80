import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';

/** Where the packets of one track of one session go. */
export interface Transport {
  /** One whole RTP or RTCP packet, copied before the call returns. */
  sendRtp(packet: Buffer): void;
  sendRtcp(packet: Buffer): void;
  close(): void;
}

/** The 4 bytes before an interleaved packet (RFC 2326 §10.12). */
export const interleaved = (channel: number, packet: Buffer): Buffer => {
  const framed = Buffer.allocUnsafe(4 + packet.length);
  framed[0] = 0x24;
  framed[1] = channel;
  framed.writeUInt16BE(packet.length, 2);
  packet.copy(framed, 4);
  return framed;
};

/** Packets between the answers of the RTSP connection. */
export class TcpTransport implements Transport {
  readonly socket: Socket;
  readonly rtpChannel: number;
  readonly rtcpChannel: number;
  readonly #write: (bytes: Buffer) => void;

  constructor(socket: Socket, channels: readonly [number, number], write: (bytes: Buffer) => void) {
    this.socket = socket;
    [this.rtpChannel, this.rtcpChannel] = channels;
    this.#write = write;
  }

  sendRtp(packet: Buffer): void {
    this.#write(interleaved(this.rtpChannel, packet));
  }

  sendRtcp(packet: Buffer): void {
    this.#write(interleaved(this.rtcpChannel, packet));
  }

  close(): void {
    // The connection outlives its tracks.
  }
}

const bindPair = async (host: string): Promise<[UdpSocket, UdpSocket]> => {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const rtp = createSocket('udp4');
    rtp.bind(0, host);
    await once(rtp, 'listening');
    const port = rtp.address().port;
    const rtcp = createSocket('udp4');
    const isBound = await new Promise<boolean>((resolve) => {
      rtcp.once('listening', () => resolve(true));
      rtcp.once('error', () => resolve(false));
      if (port % 2 === 0) rtcp.bind(port + 1, host);
      else resolve(false);
    });
    if (isBound) return [rtp, rtcp];
    rtp.close();
    rtcp.close();
  }
  throw new Error('no even and odd pair of UDP ports is free');
};

/** What a UDP track asks and tells its connection. */
export type UdpEvents = {
  readonly isBlocked: () => boolean;
  readonly onSent: (bytes: number) => void;
  readonly onRtcp: (packet: Buffer) => void;
};

/** Packets as datagrams, from an even port and the next one (RFC 3550 §11). */
export class UdpTransport implements Transport {
  readonly serverPorts: readonly [number, number];
  readonly #rtp: UdpSocket;
  readonly #rtcp: UdpSocket;
  readonly #host: string;
  readonly #clientPorts: readonly [number, number];
  readonly #events: UdpEvents;
  #isClosed = false;

  private constructor(
    sockets: readonly [UdpSocket, UdpSocket],
    host: string,
    clientPorts: readonly [number, number],
    events: UdpEvents,
  ) {
    [this.#rtp, this.#rtcp] = sockets;
    this.serverPorts = [this.#rtp.address().port, this.#rtcp.address().port];
    this.#host = host;
    this.#clientPorts = clientPorts;
    this.#events = events;
    for (const socket of sockets) socket.on('error', () => undefined); // the client's port may be gone
    this.#rtcp.on('message', (packet) => events.onRtcp(packet));
  }

  static async open(
    host: string,
    clientPorts: readonly [number, number],
    events: UdpEvents,
  ): Promise<UdpTransport> {
    return new UdpTransport(await bindPair(host), host, clientPorts, events);
  }

  sendRtp(packet: Buffer): void {
    this.#send(this.#rtp, packet, this.#clientPorts[0]);
  }

  sendRtcp(packet: Buffer): void {
    this.#send(this.#rtcp, packet, this.#clientPorts[1]);
  }

  #send(socket: UdpSocket, packet: Buffer, port: number): void {
    if (this.#isClosed || this.#events.isBlocked()) return;
    this.#events.onSent(packet.length);
    socket.send(Buffer.from(packet), port, this.#host);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#rtp.close();
    this.#rtcp.close();
  }
}
