import { randomBytes } from 'node:crypto';
import type { Element } from '../analytics/xml-tree.js';
import type { Clock } from '../base/clock.js';
import { Authenticator, type Credentials } from '../rtsp/auth.js';
import type { CertificatePolicy } from '../rtsp/quirks.js';
import { cameraTimeMs, clockRemark } from './camera-time.js';
import { onSameHost } from './device-address.js';
import { onvifError } from './errors.js';
import { type HttpAnswer, post } from './http-post.js';
import {
  fromCapabilities,
  fromServices,
  NAMESPACES,
  type ServiceAddresses,
  type ServiceName,
} from './services.js';
import { envelope, readAnswer, type SoapAnswer, type SoapFault, usernameToken } from './soap.js';

export type DeviceOptions = {
  readonly address: URL;
  readonly credentials: Credentials | null;
  readonly certificate: CertificatePolicy;
};

export type DeviceDeps = { readonly clock: Clock; readonly signal?: AbortSignal };

/** How a request says who asks: not at all, in its header (WS-Security), or as HTTP asks for it. */
type Manner = 'nobody' | 'token' | 'http';

/** What is asked, and where. */
export type Question = {
  readonly url: URL;
  readonly namespace: string;
  readonly operation: string;
  readonly inside: string;
  /** As WS-Addressing has it; nothing: made of namespace and operation. */
  readonly action?: string;
  /** What stands in the SOAP header besides who asks, and the namespaces that it needs. */
  readonly header?: { readonly xml: string; readonly declarations: string };
  readonly limitMs?: number;
  /** Of the answer; nothing: as much as a large recorder has to tell of its profiles. */
  readonly maxBytes?: number;
  readonly maxElements?: number;
  readonly signal?: AbortSignal;
};

/** What was answered, the whole document, and how long this thread read it. */
export type Answer = { readonly element: Element; readonly body: Buffer; readonly readMs: number };

type Exchange = { readonly http: HttpAnswer; readonly soap: SoapAnswer; readonly readMs: number };

/** Faults that mean "not you"; vendors spell them as they like. */
const isAboutRights = ({ codes }: SoapFault): boolean =>
  codes.some((code) =>
    /^(?:NotAuthorized|FailedAuthentication|InvalidSecurity\w*|Unauthorized)$/i.test(code),
  );

const isRefusal = ({ http, soap }: Exchange): boolean =>
  http.status === 401 || (soap.kind === 'fault' && isAboutRights(soap.fault));

/** A device that is asked things: as whom, and by which clock. One question at a time. */
export class OnvifDevice {
  readonly #options: DeviceOptions;
  readonly #deps: DeviceDeps;
  readonly #http: Authenticator;
  #services: ServiceAddresses;
  /** Of its clock against ours, which only moves on; null: it tells nobody. */
  #aheadOfMonotonicMs: number | null = null;
  #clockOffsetSec: number | null = null;
  /** The address that its name led to, the last time. */
  #reached = '';
  /** What it took the last time. */
  #manner: Manner;

  constructor(options: DeviceOptions, deps: DeviceDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#http = new Authenticator(options.credentials);
    this.#services = { device: options.address };
    this.#manner = options.credentials === null ? 'nobody' : 'token';
  }

  get services(): ServiceAddresses {
    return this.#services;
  }

  /** How far its clock is ahead of ours; null: it tells nobody. */
  get clockOffsetSec(): number | null {
    return this.#clockOffsetSec;
  }

  /** An address that it told of itself when it was asked at another, as far as it is taken; null: no address. */
  addressOf(asked: URL, told: string): URL | null {
    return onSameHost(asked, told, this.#reached);
  }

  /** Looks at its clock, and asks where its services are: what has to be before anything else. */
  async open(): Promise<void> {
    await this.#readClock();
    const answer = await this.#unlessRefused(
      this.call('device', 'GetServices', '<IncludeCapability>false</IncludeCapability>'),
    );
    if (answer !== null) this.#services = fromServices(this.#options.address, this.#reached, answer);
    if (this.#services.media !== undefined || this.#services.media2 !== undefined) return;
    const capabilities = await this.#unlessRefused(
      this.call('device', 'GetCapabilities', '<Category>All</Category>'),
    );
    if (capabilities !== null)
      this.#services = fromCapabilities(this.#options.address, this.#reached, capabilities);
  }

  /** Asks a service that the device has, and answers what is in its answer. Throws what `errors.ts` lists. */
  async call(service: ServiceName, operation: string, inside = ''): Promise<Element> {
    const url = this.#services[service];
    if (url === undefined)
      throw onvifError('camera_refused', `the camera has no service for ${operation} (ONVIF ${service})`);
    return (await this.ask({ url, namespace: NAMESPACES[service], operation, inside })).element;
  }

  /** Asks what it likes of an address that the device told. Throws what `errors.ts` lists. */
  async ask(question: Question): Promise<Answer> {
    const exchange = await this.#asWhoeverItTakes(question);
    const element = this.#answerOf(exchange, question.operation, question.url);
    return { element, body: exchange.http.body, readMs: exchange.readMs };
  }

  /** Null where the device doesn't know the operation, or has its reasons. */
  async #unlessRefused(asked: Promise<Element>): Promise<Element | null> {
    try {
      return await asked;
    } catch (fault) {
      if (fault instanceof Error && 'code' in fault && fault.code === 'camera_refused') return null;
      throw fault;
    }
  }

  /** The one question that everybody may ask (ONVIF Core §5.12.1), since who asks is told by this clock. */
  async #readClock(): Promise<void> {
    const { address } = this.#options;
    const question = {
      url: address,
      namespace: NAMESPACES.device,
      operation: 'GetSystemDateAndTime',
      inside: '',
    };
    const exchange = await this.#send(question, 'nobody');
    const { http, soap } = exchange;
    if (!isRefusal(exchange) && soap.kind === 'unreadable') throw this.#unreadable(exchange, address);
    const { clock } = this.#deps;
    const cameraMs = cameraTimeMs(soap.kind === 'answer' ? soap.element : undefined, http.date);
    if (cameraMs === null) return;
    this.#aheadOfMonotonicMs = cameraMs - clock.monotonicMs();
    this.#clockOffsetSec = Math.round((cameraMs - clock.wallMs()) / 1_000);
  }

  async #asWhoeverItTakes(question: Question): Promise<Exchange> {
    const { url } = question;
    // What was asked for over TLS isn't told to the next service without.
    const manner = this.#manner === 'http' && this.#wouldTellAll(url) ? 'token' : this.#manner;
    const first = await this.#send(question, manner);
    if (!isRefusal(first)) {
      if (manner === 'http') this.#http.onAccepted();
      return first;
    }
    if (this.#options.credentials === null) throw this.#unauthorized(first);
    // Cameras lock users out after some failures: each way is tried once, and the second only where it is offered.
    let { challenges } = first.http;
    if (manner === 'token' && challenges.length === 0)
      challenges = (await this.#send(question, 'nobody')).http.challenges;
    const isOffered = this.#http.onUnauthorized(challenges, manner === 'http');
    if (!isOffered || this.#wouldTellAll(url)) throw this.#unauthorized(first);
    const second = await this.#send(question, 'http');
    if (isRefusal(second)) throw this.#unauthorized(second);
    // What nobody may ask says nothing of how the rest is asked.
    this.#manner = 'http';
    this.#http.onAccepted();
    return second;
  }

  /** Basic over a line that anybody can read: nobody's password goes there because a device says so. */
  #wouldTellAll(url: URL): boolean {
    return url.protocol === 'http:' && (this.#http.authorize('POST', url.pathname) ?? '').startsWith('Basic');
  }

  async #send(question: Question, manner: Manner): Promise<Exchange> {
    const { url, namespace, operation, inside, header, limitMs, maxBytes, maxElements, signal } = question;
    const { action = `${namespace}/${operation}` } = question;
    const body = `<${operation} xmlns="${namespace}" xmlns:tt="http://www.onvif.org/ver10/schema">${inside}</${operation}>`;
    const { credentials, certificate } = this.#options;
    const asWhom =
      manner === 'token' && credentials !== null
        ? usernameToken(credentials, randomBytes(16), this.#cameraNowMs())
        : '';
    const authorization =
      manner === 'http' ? this.#http.authorize('POST', `${url.pathname}${url.search}`) : null;
    const http = await post(
      {
        ...{ url, certificate, ...(limitMs !== undefined && { limitMs }) },
        ...(maxBytes !== undefined && { maxBytes }),
        body: envelope(body, `${header?.xml ?? ''}${asWhom}`, header?.declarations),
        headers: {
          'Content-Type': `application/soap+xml; charset=utf-8; action="${action}"`,
          'User-Agent': 'Framering',
          ...(authorization === null ? {} : { Authorization: authorization }),
        },
      },
      signal === undefined ? this.#deps : { ...this.#deps, signal },
    );
    this.#reached = http.reached;
    const { clock } = this.#deps;
    const beganMs = clock.monotonicMs();
    const soap = readAnswer(http.body, maxElements);
    return { http, soap, readMs: clock.monotonicMs() - beganMs };
  }

  #cameraNowMs(): number {
    const { clock } = this.#deps;
    return this.#aheadOfMonotonicMs === null
      ? clock.wallMs()
      : this.#aheadOfMonotonicMs + clock.monotonicMs();
  }

  #answerOf(exchange: Exchange, operation: string, url: URL): Element {
    const { soap } = exchange;
    if (soap.kind === 'unreadable') throw this.#unreadable(exchange, url);
    if (soap.kind === 'fault') {
      const { codes, reason } = soap.fault;
      const said = [reason, codes.filter((code) => code !== '').join(' ')].find((text) => text !== '');
      throw onvifError('camera_refused', `the camera refuses ${operation}${said ? `: ${said}` : ''}`, {
        details: { codes },
      });
    }
    if (soap.name !== `${operation}Response`)
      throw onvifError('camera_bad_answer', `the camera answers ${operation} with something else`);
    return soap.element;
  }

  #unreadable({ http, soap }: Exchange, url: URL): Error {
    const where = url.host;
    if (http.status >= 300 && http.status < 400)
      return onvifError(
        'not_onvif',
        `${where} sends us elsewhere (${http.status}): ${/^https:/i.test(http.location) ? 'it wants https:// in its address' : 'give the address that it means'}`,
      );
    if (soap.kind === 'unreadable' && soap.isXml)
      return onvifError('camera_bad_answer', `what ${where} answers can't be read: ${soap.reason}`);
    return onvifError(
      'not_onvif',
      `${where} answers (${http.status}), but not by ONVIF: check the port and the path, and that ONVIF is switched on in the camera`,
    );
  }

  #unauthorized({ soap }: Exchange): Error {
    if (this.#options.credentials === null)
      return onvifError('camera_unauthorized', 'the camera asks for a user and a password');
    const remark = clockRemark(this.#clockOffsetSec ?? 0);
    const hints = [
      'many cameras have users for ONVIF of their own',
      this.#clockOffsetSec === null
        ? 'it tells no time: where its clock is wrong it takes nobody'
        : remark === ''
          ? ''
          : `its clock is ${remark}, which was taken into account`,
      soap.kind === 'fault' && soap.fault.reason !== '' ? `it says: ${soap.fault.reason}` : '',
    ];
    return onvifError(
      'camera_unauthorized',
      `the camera refuses user or password; ${hints.filter((hint) => hint !== '').join('; ')}`,
    );
  }
}
