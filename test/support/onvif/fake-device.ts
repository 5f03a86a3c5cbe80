import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type FakeStream = {
  readonly token: string;
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  /** Told by GetStreamUri. */
  readonly uri: string;
  readonly source?: string;
  readonly hasPtz?: boolean;
};

/** How a vendor's firmware writes and behaves. */
export type Dialect = {
  /** Of its envelope; "" for a default namespace. */
  readonly prefix: string;
  readonly auth: 'none' | 'token' | 'digest' | 'digest-sha256';
  readonly clockOffsetMs?: number;
  /** It tells nobody the time, but in its HTTP header. */
  readonly hasNoClock?: boolean;
  /** Which media services it lists. */
  readonly media: readonly ('media' | 'media2')[];
  /** Faults come with this status. */
  readonly faultStatus: number;
  readonly hasNoGetServices?: boolean;
  /** In its XAddrs, instead of the host that was asked. */
  readonly innerHost?: string;
  readonly hasPtz?: boolean;
  readonly hasEvents?: boolean;
};

export type FakeDeviceOptions = Dialect & {
  readonly user?: string;
  readonly password?: string;
  /** What its clock is set by; nothing: this machine's. */
  readonly ourMs?: () => number;
  readonly streams: readonly FakeStream[];
  /** Answers an operation otherwise. */
  readonly instead?: (operation: string, response: ServerResponse, body: string) => boolean;
};

/** What it was asked, in order. */
export type Asked = {
  readonly operation: string;
  readonly body: string;
  readonly manner: 'nobody' | 'token' | 'http';
  /** "": none. */
  readonly authorization: string;
  readonly host: string;
  readonly path: string;
};

const NS = {
  device: 'http://www.onvif.org/ver10/device/wsdl',
  media: 'http://www.onvif.org/ver10/media/wsdl',
  media2: 'http://www.onvif.org/ver20/media/wsdl',
  ptz: 'http://www.onvif.org/ver20/ptz/wsdl',
  events: 'http://www.onvif.org/ver10/events/wsdl',
} as const;
const FRESH_MS = 5_000;
const NONCE = randomBytes(8).toString('hex');

const part = (text: string, name: string): string =>
  new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?>([^<]*)<`).exec(text)?.[1] ?? '';

/** An ONVIF device of our own making, as some vendor would have written it. It reads requests in its own way. */
export class FakeDevice {
  readonly asked: Asked[] = [];
  readonly presets = new Map<string, string>([['1', 'Gate']]);
  readonly #options: FakeDeviceOptions;
  readonly #server: Server;
  #presetsSoFar = 1;

  private constructor(options: FakeDeviceOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(options: FakeDeviceOptions): Promise<FakeDevice> {
    const device = new FakeDevice(options);
    await new Promise<void>((resolve) => device.#server.listen(0, '127.0.0.1', resolve));
    return device;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** As an operator types it. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  get operations(): string[] {
    return this.asked.map(({ operation }) => operation);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const operation = /Body[^>]*><(?:\w+:)?(\w+)/.exec(body)?.[1] ?? '';
    const manner = request.headers.authorization
      ? 'http'
      : body.includes('UsernameToken')
        ? 'token'
        : 'nobody';
    this.asked.push({
      ...{ operation, body, manner, authorization: request.headers.authorization ?? '' },
      host: request.headers.host ?? '',
      path: request.url ?? '',
    });
    if (this.#options.hasNoClock) response.setHeader('Date', new Date(this.#nowMs()).toUTCString());
    const isPublic = operation === 'GetSystemDateAndTime';
    if (this.#options.instead?.(operation, response, body)) return;
    if (!isPublic && !this.#isAllowed(request, body)) this.#refuse(response);
    else this.#answer(operation, body, response);
  }

  #nowMs(): number {
    const { ourMs = Date.now, clockOffsetMs = 0 } = this.#options;
    return ourMs() + clockOffsetMs;
  }

  #isAllowed(request: IncomingMessage, body: string): boolean {
    const { auth, user = 'admin', password = 'secret' } = this.#options;
    if (auth === 'none') return true;
    if (auth === 'token') {
      const created = part(body, 'Created');
      const nonce = Buffer.from(part(body, 'Nonce'), 'base64');
      const digest = createHash('sha1').update(nonce).update(created).update(password).digest('base64');
      const isFresh = Math.abs(Date.parse(created) - this.#nowMs()) < FRESH_MS;
      return part(body, 'Username') === user && part(body, 'Password') === digest && isFresh;
    }
    const field = (name: string): string =>
      new RegExp(`\\b${name}="?([^",]*)`).exec(request.headers.authorization ?? '')?.[1] ?? '';
    const hash = (text: string): string =>
      createHash(auth === 'digest' ? 'md5' : 'sha256')
        .update(text)
        .digest('hex');
    const [ha1, ha2] = [hash(`${user}:fake:${password}`), hash(`POST:${request.url}`)];
    const wanted = hash(`${ha1}:${NONCE}:${field('nc')}:${field('cnonce')}:auth:${ha2}`);
    return field('username') === user && field('nonce') === NONCE && field('response') === wanted;
  }

  #refuse(response: ServerResponse): void {
    const { auth } = this.#options;
    if (auth === 'token') {
      this.#fault(response, 'ter:NotAuthorized', 'Sender not Authorized');
      return;
    }
    const algorithm = auth === 'digest' ? 'MD5' : 'SHA-256';
    response.setHeader(
      'WWW-Authenticate',
      `Digest realm="fake", qop="auth", nonce="${NONCE}", algorithm=${algorithm}`,
    );
    response.writeHead(401).end();
  }

  #fault(response: ServerResponse, subcode: string, reason: string): void {
    const p = this.#options.prefix === '' ? '' : `${this.#options.prefix}:`;
    this.#send(
      response,
      `<${p}Fault><${p}Code><${p}Value>${p}Sender</${p}Value><${p}Subcode><${p}Value>${subcode}</${p}Value></${p}Subcode>` +
        `</${p}Code><${p}Reason><${p}Text xml:lang="en">${reason}</${p}Text></${p}Reason></${p}Fault>`,
      this.#options.faultStatus,
    );
  }

  #send(response: ServerResponse, inside: string, status = 200): void {
    const { prefix } = this.#options;
    const p = prefix === '' ? '' : `${prefix}:`;
    const declared = prefix === '' ? 'xmlns' : `xmlns:${prefix}`;
    response.writeHead(status, { 'Content-Type': 'application/soap+xml; charset=utf-8' });
    response.end(
      `<?xml version="1.0" encoding="UTF-8"?>\n<${p}Envelope ${declared}="http://www.w3.org/2003/05/soap-envelope" ` +
        `xmlns:tds="${NS.device}" xmlns:trt="${NS.media}" xmlns:tr2="${NS.media2}" xmlns:tptz="${NS.ptz}" ` +
        'xmlns:tt="http://www.onvif.org/ver10/schema" xmlns:ter="http://www.onvif.org/ver10/error">' +
        `<${p}Header/><${p}Body>${inside}</${p}Body></${p}Envelope>\n`,
    );
  }

  #answer(operation: string, body: string, response: ServerResponse): void {
    const answer = this.#answers(body)[operation]?.();
    if (answer === undefined)
      this.#fault(response, 'ter:ActionNotSupported', 'Optional Action Not Implemented');
    else this.#send(response, answer);
  }

  #xaddr(service: string): string {
    return `http://${this.#options.innerHost ?? this.address}/onvif/${service}`;
  }

  #answers(body: string): Readonly<Record<string, () => string>> {
    const { media, hasNoGetServices, hasPtz, hasEvents, hasNoClock, streams } = this.#options;
    const is2 = body.includes(NS.media2);
    const t = is2 ? 'tr2' : 'trt';
    const named = streams.find(({ token }) => token === part(body, 'ProfileToken'));
    const services = [
      'device' as const,
      ...media,
      ...(hasPtz ? ['ptz' as const] : []),
      ...(hasEvents ? ['events' as const] : []),
    ];
    return {
      ...(hasNoClock ? {} : { GetSystemDateAndTime: () => this.#time() }),
      ...(hasNoGetServices
        ? {}
        : {
            GetServices: () =>
              `<tds:GetServicesResponse>${services
                .map(
                  (name) =>
                    `<tds:Service><tds:Namespace>${NS[name]}</tds:Namespace><tds:XAddr>${this.#xaddr(name)}</tds:XAddr></tds:Service>`,
                )
                .join('')}</tds:GetServicesResponse>`,
          }),
      GetCapabilities: () =>
        `<tds:GetCapabilitiesResponse><tds:Capabilities><tt:Media><tt:XAddr>${this.#xaddr('media')}</tt:XAddr></tt:Media>` +
        `${hasPtz ? `<tt:PTZ><tt:XAddr>${this.#xaddr('ptz')}</tt:XAddr></tt:PTZ>` : ''}` +
        `${hasEvents ? `<tt:Events><tt:XAddr>${this.#xaddr('events')}</tt:XAddr></tt:Events>` : ''}</tds:Capabilities></tds:GetCapabilitiesResponse>`,
      GetDeviceInformation: () =>
        '<tds:GetDeviceInformationResponse><tds:Manufacturer>Maker &amp; Sons</tds:Manufacturer><tds:Model>M-1</tds:Model>' +
        '<tds:FirmwareVersion>5.6</tds:FirmwareVersion><tds:SerialNumber>S7</tds:SerialNumber></tds:GetDeviceInformationResponse>',
      GetProfiles: () =>
        `<${t}:GetProfilesResponse>${streams.map((stream) => profileXml(stream, is2)).join('')}</${t}:GetProfilesResponse>`,
      GetStreamUri: () =>
        is2
          ? `<tr2:GetStreamUriResponse><tr2:Uri>${named?.uri}</tr2:Uri></tr2:GetStreamUriResponse>`
          : `<trt:GetStreamUriResponse><trt:MediaUri><tt:Uri>${named?.uri}</tt:Uri></trt:MediaUri></trt:GetStreamUriResponse>`,
      GetSnapshotUri: () =>
        `<${t}:GetSnapshotUriResponse><${t}:MediaUri><tt:Uri>http://10.9.8.7/snap.jpg?channel=1&amp;x=2</tt:Uri></${t}:MediaUri></${t}:GetSnapshotUriResponse>`,
      ...(hasPtz ? this.#ptzAnswers(body) : {}),
    };
  }

  #ptzAnswers(
    body: string,
  ): Readonly<Record<string, () => string | undefined>> & Record<string, () => string> {
    return {
      ContinuousMove: () => '<tptz:ContinuousMoveResponse/>',
      Stop: () => '<tptz:StopResponse/>',
      GetPresets: () =>
        `<tptz:GetPresetsResponse>${[...this.presets]
          .map(([token, name]) => `<tptz:Preset token="${token}"><tt:Name>${name}</tt:Name></tptz:Preset>`)
          .join('')}</tptz:GetPresetsResponse>`,
      GotoPreset: () => '<tptz:GotoPresetResponse/>',
      SetPreset: () => {
        const token = part(body, 'PresetToken') || String(++this.#presetsSoFar);
        this.presets.set(token, part(body, 'PresetName'));
        return `<tptz:SetPresetResponse><tptz:PresetToken>${token}</tptz:PresetToken></tptz:SetPresetResponse>`;
      },
      RemovePreset: () => {
        this.presets.delete(part(body, 'PresetToken'));
        return '<tptz:RemovePresetResponse/>';
      },
    };
  }

  #time(): string {
    const now = new Date(this.#nowMs());
    return (
      '<tds:GetSystemDateAndTimeResponse><tds:SystemDateAndTime><tt:DateTimeType>Manual</tt:DateTimeType><tt:UTCDateTime>' +
      `<tt:Time><tt:Hour>${now.getUTCHours()}</tt:Hour><tt:Minute>${now.getUTCMinutes()}</tt:Minute><tt:Second>${now.getUTCSeconds()}</tt:Second></tt:Time>` +
      `<tt:Date><tt:Year>${now.getUTCFullYear()}</tt:Year><tt:Month>${now.getUTCMonth() + 1}</tt:Month><tt:Day>${now.getUTCDate()}</tt:Day></tt:Date>` +
      '</tt:UTCDateTime></tds:SystemDateAndTime></tds:GetSystemDateAndTimeResponse>'
    );
  }
}

const profileXml = (
  { token, codec, width, height, source = 'vs0', hasPtz }: FakeStream,
  is2: boolean,
): string => {
  const size = `<tt:Resolution><tt:Width>${width}</tt:Width><tt:Height>${height}</tt:Height></tt:Resolution>`;
  const rate =
    '<tt:RateControl><tt:FrameRateLimit>25</tt:FrameRateLimit><tt:BitrateLimit>2048</tt:BitrateLimit></tt:RateControl>';
  const encoder = `<tt:Encoding>${codec}</tt:Encoding>${size}${rate}`;
  if (is2)
    return (
      `<tr2:Profiles token="${token}" fixed="true"><tr2:Name>${token} name</tr2:Name><tr2:Configurations>` +
      `<tr2:VideoSource token="s"><tt:SourceToken>${source}</tt:SourceToken></tr2:VideoSource>` +
      `<tr2:VideoEncoder token="e">${encoder}</tr2:VideoEncoder>${hasPtz ? '<tr2:PTZ token="p"/>' : ''}</tr2:Configurations></tr2:Profiles>`
    );
  return (
    `<trt:Profiles token="${token}"><tt:Name>${token} name</tt:Name>` +
    `<tt:VideoSourceConfiguration token="s"><tt:SourceToken>${source}</tt:SourceToken></tt:VideoSourceConfiguration>` +
    `<tt:VideoEncoderConfiguration token="e">${encoder}</tt:VideoEncoderConfiguration>${hasPtz ? '<tt:PTZConfiguration token="p"/>' : ''}</trt:Profiles>`
  );
};
