import { createSocket, type Socket } from 'node:dgram';

const GROUP = '239.255.255.250';
const PORT = 3_702;

/** Answers probes on the loopback network, as devices do; `answer` gives the datagrams. */
export class FakeAnnouncer {
  readonly probes: string[] = [];
  readonly #socket: Socket = createSocket({ type: 'udp4', reuseAddr: true });

  static async start(answer: (probe: string) => readonly (string | Buffer)[]): Promise<FakeAnnouncer> {
    const announcer = new FakeAnnouncer();
    const socket = announcer.#socket;
    socket.on('message', (bytes, { address, port }) => {
      announcer.probes.push(bytes.toString());
      for (const datagram of answer(bytes.toString())) socket.send(datagram, port, address);
    });
    await new Promise<void>((resolve) => socket.bind(PORT, resolve));
    socket.addMembership(GROUP, '127.0.0.1');
    return announcer;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.#socket.close(resolve));
  }
}

/** One match, as devices write it. */
export const matchXml = (endpoint: string, xaddrs: string, scopes: string): string =>
  `<d:ProbeMatch><a:EndpointReference><a:Address>${endpoint}</a:Address></a:EndpointReference>` +
  `<d:Types>dn:NetworkVideoTransmitter</d:Types><d:Scopes>${scopes}</d:Scopes><d:XAddrs>${xaddrs}</d:XAddrs></d:ProbeMatch>`;

/** A whole answer with these matches. */
export const replyXml = (...matches: readonly string[]): string =>
  '<?xml version="1.0"?><e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope" ' +
  'xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery">' +
  `<e:Body><d:ProbeMatches>${matches.join('')}</d:ProbeMatches></e:Body></e:Envelope>`;
