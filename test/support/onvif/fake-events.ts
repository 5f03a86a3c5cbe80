import type { ServerResponse } from 'node:http';

const SYNCHRONIZE = 'SetSynchronizationPoint';

/** How a vendor's events look. */
export type EventDialect = {
  /** Where pull points are, below the device's address; `#` stands for a number. */
  readonly path: string;
  /** What has to come with each question about a subscription, as SOAP header. */
  readonly reference?: { readonly xml: string; readonly declared: string };
  /** How it behaves when it is asked for a renewal, which it doesn't know. */
  readonly renewal?: 'fault' | 'status alone' | 'page' | 'other answer' | 'cut off' | 'silence';
  /** How all is it tells when it is asked for that, instead of to whoever begins to ask; else it doesn't know the question. */
  readonly tellsWhenAsked?: boolean;
  /** What it says of the host; "": as it was asked. */
  readonly host?: string;
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
  #waiting: ServerResponse | null = null;
  #messages: FakeMessage[] = [];
  #subscriptions = 0;
  #isKnown = false;

  constructor(dialect: EventDialect, address: () => string) {
    this.#dialect = dialect;
    this.#address = address;
  }

  get isAsked(): boolean {
    return this.#waiting !== null;
  }

  get subscriptions(): number {
    return this.#subscriptions;
  }

  tell(...messages: readonly FakeMessage[]): void {
    this.#messages.push(...messages);
    this.#flush();
  }

  /** As after a restart: nobody is known. */
  forget(): void {
    this.#isKnown = false;
    this.#waiting?.destroy();
    this.#waiting = null;
  }

  readonly instead = (operation: string, response: ServerResponse, body: string): boolean => {
    const path = response.req.url ?? '';
    if (operation === 'CreatePullPointSubscription') {
      this.#subscribe(response);
      return true;
    }
    const { reference, renewal, tellsWhenAsked } = this.#dialect;
    const known = ['PullMessages', 'Renew', 'Unsubscribe', ...(tellsWhenAsked ? [SYNCHRONIZE] : [])];
    if (!known.includes(operation)) return false;
    this.asked.push({ operation, path, body });
    const isOurs =
      this.#isKnown && path === this.#path && (reference === undefined || body.includes(reference.xml));
    if (!isOurs) this.#refuse(response);
    else if (operation === 'Renew' && renewal !== undefined) this.#renewNot(response, renewal);
    else if (operation === 'PullMessages') this.#pull(response);
    else if (operation === SYNCHRONIZE) {
      this.#messages.push(...this.initial);
      this.#answer(response, `<tev:${SYNCHRONIZE}Response/>`);
    } else this.#answer(response, `<wsnt:${operation}Response/>`);
    return true;
  };

  get #path(): string {
    return this.#dialect.path.replace('#', String(this.#subscriptions));
  }

  #subscribe(response: ServerResponse): void {
    this.#subscriptions += 1;
    this.#isKnown = true;
    const { reference, host = '', tellsWhenAsked } = this.#dialect;
    this.#messages = tellsWhenAsked ? [] : [...this.initial];
    const parameters =
      reference === undefined ? '' : `<wsa5:ReferenceParameters>${reference.xml}</wsa5:ReferenceParameters>`;
    this.#answer(
      response,
      '<tev:CreatePullPointSubscriptionResponse><tev:SubscriptionReference>' +
        `<wsa5:Address>http://${host || this.#address()}${this.#path}</wsa5:Address>${parameters}` +
        `</tev:SubscriptionReference><wsnt:CurrentTime>${this.#now}</wsnt:CurrentTime>` +
        `<wsnt:TerminationTime>${this.#now}</wsnt:TerminationTime></tev:CreatePullPointSubscriptionResponse>`,
    );
  }

  get #now(): string {
    return new Date(Date.now() + this.aheadMs).toISOString();
  }

  #pull(response: ServerResponse): void {
    this.#waiting = response;
    response.on('close', () => {
      if (this.#waiting === response) this.#waiting = null;
    });
    this.#flush();
  }

  #flush(): void {
    const response = this.#waiting;
    if (response === null || this.#messages.length === 0) return;
    this.#waiting = null;
    const messages = this.#messages.splice(0).map(messageXml).join('');
    this.#answer(
      response,
      `<tev:PullMessagesResponse><tev:CurrentTime>${this.#now}</tev:CurrentTime>` +
        `<tev:TerminationTime>${this.#now}</tev:TerminationTime>${messages}</tev:PullMessagesResponse>`,
    );
  }

  #renewNot(response: ServerResponse, how: NonNullable<EventDialect['renewal']>): void {
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
