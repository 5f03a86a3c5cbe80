import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MediaStreamTrack, RTCPeerConnection, useH264 } from 'werift';
import { PacketWriter, RTP_HEADER_BYTES } from '../../src/rtp/packet-writer.js';
import { H264Packetizer } from '../../src/rtp/packetize-h264.js';
import type { VideoStream } from './elementary-stream.js';

const MAX_PAYLOAD_BYTES = 1100;
const FRAME_MS = 1000 / 15;
const ALLOWED = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, DELETE',
  'access-control-allow-headers': 'authorization, content-type',
  'access-control-expose-headers': 'location',
};

/**
 * werift takes the first H.264 of an offer, whatever its profile (Chromium's is 42001f with packetization-mode 1),
 * and needs the others gone. Returns the offer and that payload type.
 */
const pruneOffer = (offer: string): { sdp: string; payloadType: number } => {
  const payloadType = /^a=fmtp:(\d+) .*packetization-mode=1;profile-level-id=42e01f/m.exec(offer)?.[1];
  if (payloadType === undefined) throw new Error('the offer has no H.264');
  const lines = offer.split('\r\n').flatMap((line) => {
    if (line.startsWith('m=video')) return line.replace(/( UDP\/TLS\/RTP\/SAVPF).*/, `$1 ${payloadType}`);
    const of = /^a=(?:rtpmap|fmtp|rtcp-fb):(\d+)/.exec(line)?.[1];
    return of === undefined || of === payloadType ? line : [];
  });
  return { sdp: lines.join('\r\n'), payloadType: Number(payloadType) };
};

const makePeer = (): RTCPeerConnection =>
  new RTCPeerConnection({
    codecs: { video: [useH264()], audio: [] },
    iceServers: [],
    // Else its answer waits for a STUN server on the Internet.
    iceLite: true,
    iceUseIpv6: false,
    bundlePolicy: 'max-bundle',
    iceAdditionalHostAddresses: ['127.0.0.1'],
  });

/** A WHEP server of werift's, for one viewer after another, that shows a stream with parameter sets in band, over and over. */
export class WeriftWhep {
  readonly url: string;
  /** Authorization headers of all requests. */
  readonly authorizations: (string | undefined)[] = [];
  readonly #server: ReturnType<typeof createServer>;
  readonly #stream: VideoStream;
  #peer: RTCPeerConnection | null = null;
  #timer: NodeJS.Timeout | undefined;

  private constructor(server: ReturnType<typeof createServer>, stream: VideoStream) {
    this.#server = server;
    this.#stream = stream;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/whep`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(500, ALLOWED).end(String(error));
      });
    });
  }

  static async start(stream: VideoStream): Promise<WeriftWhep> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new WeriftWhep(server, stream);
  }

  get isWatched(): boolean {
    return this.#peer !== null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'OPTIONS') return void response.writeHead(204, ALLOWED).end();
    this.authorizations.push(request.headers.authorization);
    if (request.method === 'DELETE') {
      await this.#end();
      return void response.writeHead(200, ALLOWED).end();
    }
    let offer = '';
    for await (const chunk of request) offer += String(chunk);
    const sdp = await this.#open(offer);
    const headers = { ...ALLOWED, 'content-type': 'application/sdp', location: '/whep/session' };
    response.writeHead(201, headers).end(sdp);
  }

  async #open(offer: string): Promise<string> {
    const { sdp, payloadType } = pruneOffer(offer);
    const peer = makePeer();
    this.#peer = peer;
    const track = new MediaStreamTrack({ kind: 'video' });
    await peer.setRemoteDescription({ type: 'offer', sdp });
    const transceiver = peer.getTransceivers()[0]!;
    transceiver.setDirection('sendonly');
    await transceiver.sender.replaceTrack(track);
    await peer.setLocalDescription(await peer.createAnswer());
    peer.connectionStateChange.subscribe((state) => {
      if (state === 'connected') this.#send(track, payloadType);
    });
    return peer.localDescription!.sdp;
  }

  #send(track: MediaStreamTrack, payloadType: number): void {
    const target = Buffer.alloc(RTP_HEADER_BYTES + MAX_PAYLOAD_BYTES);
    const writer = new PacketWriter(
      { payloadType, ssrc: 1, firstSequence: 0, maxPayloadBytes: MAX_PAYLOAD_BYTES },
      target,
      0,
      (buffer, start, end) => track.writeRtp(Buffer.from(buffer.subarray(start, end))),
    );
    const packetizer = new H264Packetizer({ aggregate: false, packetizationMode: 1 }, writer);
    const { frames } = this.#stream;
    let index = 0;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      const { bytes } = frames[index % frames.length]!;
      packetizer.packetize(bytes, 0, bytes.length, index * 6000);
      index += 1;
    }, FRAME_MS);
  }

  async #end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#peer?.close();
    this.#peer = null;
  }
}
