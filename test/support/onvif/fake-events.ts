import type { ServerResponse } from 'node:http';

const SYNCHRONIZE = 'SetSynchronizationPoint';

/** How a vendor's events look. */
export type EventDialect = {
  /** Where pull points are, below the device's address; `#` stands for a number. */
  readonly path: string;
  /** What has to come with each question about a subscription, as SOAP header. */
  readonly reference?: { readonly xml: string; readonly declared: string };
  /** How it behaves when it is asked for a renewal, which it doesn't know. */
  readonly renewal?: 'fault' | 'status alone' | 'page' | 'other answer' | 'cut off' | 'silence' | 'same end';
  /** How all is it tells when it is asked for that, instead of to whoever begins to ask; else it doesn't know the question. */
  readonly tellsWhenAsked?: boolean;
  /** What it says of the host; "": as it was asked. */
  readonly host?: string;
  /** So long it keeps a pull point that nobody renews; nothing: for ever. */
  readonly termMs?: number;
  /** Whoever asks for messages has it kept as long again. */
  readonly isProlonged?: boolean;
  /** However few messages are asked for. */
  readonly tellsAllAtOnce?: boolean;
  /** However many messages are asked for. */
  readonly tellsOneByOne?: boolean;
  /** Whoever asks for longer than `termMs` has it for as long, up to this. */
  readonly mostTermMs?: number;
  /** Whoever asks for longer than `termMs` has none. */
  readonly refusesLonger?: boolean;
  /** It has room for one pull point: whoever makes another ends the one before. */
  readonly hasOne?: boolean;
  /** What it says of the end of a pull point, whenever that is. */
  readonly termination?: (nowMs: number) => string;
};

export type FakeMessage = {
  readonly topic: string;
  readonly source: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, string>>;
  readonly operation?: string;
  readonly atMs: number;
};

const items = (all: Readonly<Record<string, string>>): string =>
  Object.entries(all)
    .map(([name, value]) => `<tt:SimpleItem Name="${name}" Value="${value}"/>`)
    .join('');

const messageXml = ({ topic, source, data, operation, atMs }: FakeMessage): string =>
  '<wsnt:NotificationMessage><wsnt:Topic Dialect="http://www.onvif.org/ver10/tev/topicExpression/ConcreteSet">' +
  `${topic}</wsnt:Topic><wsnt:Message><tt:Message UtcTime="${new Date(atMs).toISOString()}"` +
  `${operation === undefined ? '' : ` PropertyOperation="${operation}"`}><tt:Source>${items(source)}</tt:Source>` +
  `<tt:Data>${items(data)}</tt:Data></tt:Message></wsnt:Message></wsnt:NotificationMessage>`;

/** `endMs`: when it is gone, by the camera's clock. */
type PullPoint = {
  readonly path: string;
  messages: FakeMessage[];
  waiting: { readonly response: ServerResponse; readonly untilMs: number; readonly count: number } | null;
  endMs: number;
};

/** The events of a device of our own making: give `instead` to a `FakeDevice`. */
export class FakeEvents {
  /** Questions about subscriptions, in order. */
  readonly asked: { readonly operation: string; readonly path: string; readonly body: string }[] = [];
  /** What it tells whoever begins to ask: how all is now. */
  initial: FakeMessage[] = [];
  /** Its clock against ours. */
  aheadMs = 0;
  readonly #dialect: EventDialect;
  readonly #address: () => string;
  readonly #ourMs: () => number;
  #points: PullPoint[] = [];
  #subscriptions = 0;

  constructor(dialect: EventDialect, address: () => string, ourMs: () => number = Date.now) {
    this.#dialect = dialect;
    this.#address = address;
    this.#ourMs = ourMs;
  }

  get isAsked(): boolean {
    return this.#points.some(({ waiting }) => waiting !== null);
  }

  /** All that there ever were. */
  get subscriptions(): number {
    return this.#subscriptions;
  }

  /** Those that take up room now. */
  get pullPoints(): number {
    return this.#points.length;
  }

  get nowMs(): number {
    return this.#ourMs() + this.aheadMs;
  }

  tell(...messages: readonly FakeMessage[]): void {
    for (const point of this.#points) {
      point.messages.push(...messages);
      this.#flush(point);
    }
  }

  /** As after a restart: nobody is known. */
  forget(): void {
    for (const { waiting } of this.#points.splice(0)) waiting?.response.destroy();
  }

  /** So much of its time goes by: questions are answered that waited long enough, and pull points end. */
  pass(ms: number): void {
    this.aheadMs += ms;
    for (const point of [...this.#points]) {
      const untilMs = point.waiting?.untilMs ?? Number.POSITIVE_INFINITY;
      if (untilMs <= Math.min(this.nowMs, point.endMs)) this.#deliver(point);
    }
    this.#dropEnded();
  }

  readonly instead = (operation: string, response: ServerResponse, body: string): boolean => {
    const path = response.req.url ?? '';
    this.#dropEnded();
    if (operation === 'CreatePullPointSubscription') {
      this.#subscribe(response, body);
      return true;
    }
    const { reference, renewal, tellsWhenAsked } = this.#dialect;
    const known = ['PullMessages', 'Renew', 'Unsubscribe', ...(tellsWhenAsked ? [SYNCHRONIZE] : [])];
    if (!known.includes(operation)) return false;
    this.asked.push({ operation, path, body });
    const point = this.#points.findLast((one) => one.path === path);
    const isKnown = reference === undefined || body.includes(reference.xml);
    if (point === undefined || !isKnown) this.#refuse(response);
    else if (operation === 'PullMessages') this.#pull(point, response, body);
    else if (operation === SYNCHRONIZE) {
      point.messages.push(...this.initial);
      this.#answer(response, `<tev:${SYNCHRONIZE}Response/>`);
    } else if (operation === 'Unsubscribe') {
      this.#points.splice(this.#points.indexOf(point), 1);
      this.#answer(response, '<wsnt:UnsubscribeResponse/>');
    } else if (renewal !== undefined && renewal !== 'same end') this.#renewNot(response, renewal);
    else {
      if (renewal === undefined) point.endMs = this.#end;
      this.#answer(response, `<wsnt:RenewResponse>${this.#times(point, 'wsnt')}</wsnt:RenewResponse>`);
    }
    return true;
  };

  get #end(): number {
    return this.nowMs + (this.#dialect.termMs ?? Number.POSITIVE_INFINITY);
  }

  #dropEnded(): void {
    const nowMs = this.nowMs;
    for (const { waiting, endMs } of this.#points)
      if (endMs <= nowMs && waiting !== null) this.#refuse(waiting.response);
    this.#points = this.#points.filter(({ endMs }) => endMs > nowMs);
  }

  #subscribe(response: ServerResponse, body: string): void {
    const { reference, host = '', tellsWhenAsked, termMs, mostTermMs = 0, refusesLonger } = this.#dialect;
    const askedMs = Number(/TerminationTime>PT(\d+)S</.exec(body)?.[1]) * 1_000;
    if (refusesLonger && askedMs > (termMs ?? 0)) {
      this.#refuse(response);
      return;
    }
    this.#subscriptions += 1;
    const path = this.#dialect.path.replace('#', String(this.#subscriptions));
    const point = {
      path,
      messages: tellsWhenAsked ? [] : [...this.initial],
      waiting: null,
      endMs: Math.max(this.#end, this.nowMs + Math.min(askedMs, mostTermMs)),
    };
    if (this.#dialect.hasOne) this.forget();
    this.#points.push(point);
    const parameters =
      reference === undefined ? '' : `<wsa5:ReferenceParameters>${reference.xml}</wsa5:ReferenceParameters>`;
    this.#answer(
      response,
      '<tev:CreatePullPointSubscriptionResponse><tev:SubscriptionReference>' +
        `<wsa5:Address>http://${host || this.#address()}${path}</wsa5:Address>${parameters}` +
        `</tev:SubscriptionReference>${this.#times(point, 'wsnt')}</tev:CreatePullPointSubscriptionResponse>`,
    );
  }

  /** What it says of both its times. Where pull points have no end it says nonsense. */
  #times({ endMs }: PullPoint, prefix: string): string {
    const nowMs = this.nowMs;
    const { termination } = this.#dialect;
    const told =
      termination === undefined
        ? new Date(endMs === Number.POSITIVE_INFINITY ? nowMs : endMs).toISOString()
        : termination(nowMs);
    return (
      `<${prefix}:CurrentTime>${new Date(nowMs).toISOString()}</${prefix}:CurrentTime>` +
      `<${prefix}:TerminationTime>${told}</${prefix}:TerminationTime>`
    );
  }

  #pull(point: PullPoint, response: ServerResponse, body: string): void {
    const waitMs = Number(/Timeout>PT(\d+)S</.exec(body)?.[1]) * 1_000;
    const limit = Number(/<MessageLimit>(\d+)</.exec(body)?.[1]);
    const { tellsAllAtOnce, tellsOneByOne } = this.#dialect;
    const count = tellsAllAtOnce ? Number.POSITIVE_INFINITY : tellsOneByOne ? 1 : limit;
    const waiting = { response, untilMs: this.nowMs + waitMs, count };
    if (this.#dialect.isProlonged) point.endMs = Math.max(point.endMs, this.#end);
    point.waiting = waiting;
    response.on('close', () => {
      if (point.waiting === waiting) point.waiting = null;
    });
    this.#flush(point);
  }

  #flush(point: PullPoint): void {
    if (point.waiting !== null && point.messages.length > 0) this.#deliver(point);
  }

  #deliver(point: PullPoint): void {
    const { response, count } = point.waiting!;
    point.waiting = null;
    const messages = point.messages.splice(0, count).map(messageXml).join('');
    this.#answer(
      response,
      `<tev:PullMessagesResponse>${this.#times(point, 'tev')}${messages}</tev:PullMessagesResponse>`,
    );
  }

  #renewNot(response: ServerResponse, how: Exclude<EventDialect['renewal'], 'same end' | undefined>): void {
    if (how === 'fault') this.#refuse(response);
    else if (how === 'status alone') response.writeHead(400).end();
    else if (how === 'page') response.end('<html><p>It works!');
    else if (how === 'other answer') this.#answer(response, '<wsnt:NotifyResponse/>');
    else if (how === 'cut off') response.destroy();
  }

  #refuse(response: ServerResponse): void {
    const fault =
      '<s:Fault><s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>ter:InvalidArgVal</s:Value></s:Subcode></s:Code>' +
      '<s:Reason><s:Text xml:lang="en">no such subscription</s:Text></s:Reason></s:Fault>';
    this.#answer(response, fault, 400);
  }

  #answer(response: ServerResponse, inside: string, status = 200): void {
    response.writeHead(status, { 'Content-Type': 'application/soap+xml; charset=utf-8' });
    response.end(
      '<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" ' +
        'xmlns:tev="http://www.onvif.org/ver10/events/wsdl" xmlns:wsnt="http://docs.oasis-open.org/wsn/b-2" ' +
        'xmlns:wsa5="http://www.w3.org/2005/08/addressing" xmlns:tt="http://www.onvif.org/ver10/schema" ' +
        'xmlns:tns1="http://www.onvif.org/ver10/topics" xmlns:tnsaxis="http://www.axis.com/2009/event/topics" ' +
        `xmlns:ter="http://www.onvif.org/ver10/error" ${this.#dialect.reference?.declared ?? ''}>` +
        `<s:Header/><s:Body>${inside}</s:Body></s:Envelope>`,
    );
  }
}
