import { randomUUID } from 'node:crypto';
import { at, textOf } from '../../analytics/xml-tree.js';
import type { Clock } from '../../base/clock.js';
import type { Answer, OnvifDevice, Question } from '../device.js';
import { isOnvifError, onvifError } from '../errors.js';
import { ANSWER_LIMIT_MS } from '../http-post.js';
import { NAMESPACES } from '../services.js';
import { escapeXml } from '../soap.js';
import { Lifetime } from './lifetime.js';
import { type Reference, referenceOf } from './reference.js';
import { currentUtcMs, MAX_MESSAGES } from './told-until.js';

const ADDRESSING = 'http://www.w3.org/2005/08/addressing';
const NOTIFICATION = 'http://docs.oasis-open.org/wsn/b-2';
const MANAGER = 'http://docs.oasis-open.org/wsn/bw-2/SubscriptionManager';
const PULL_POINT = `${NAMESPACES.events}/PullPointSubscription`;

/** A camera that we lost forgets us so soon; one that lost us isn't asked for longer. */
const TERM_SEC = 60;
/** Where it can't be renewed: each next one costs a moment of which nobody knows what was in it. */
const LONG_TERM_SEC = 600;
/** What it has to tell waits meanwhile. */
const SYNCHRONIZE_LIMIT_MS = 2_000;
/** Of what is asked for all the time: 4 KB and some ninety elements a message, of which cameras use a third. */
const PULLED = { maxBytes: 128 * 1024, maxElements: 3_000 };

/** `isSure`: it knows what it has; one that doesn't say which services there are may tell another time. */
const tellsNone = (isSure: boolean): Error =>
  onvifError(isSure ? 'no_events' : 'camera_refused', 'the camera tells no events by ONVIF');

/** ONVIF Core §5.8.2. */
const isUnknown = (fault: unknown): boolean => {
  const codes = isOnvifError(fault) ? fault.details['codes'] : undefined;
  return Array.isArray(codes) && codes.includes('ActionNotSupported');
};

type Where = Pick<Question, 'url'> & { readonly reference: Reference };

/** A pull point (ONVIF Core §9.1): what a camera notices is kept there until it is asked for. */
export class Subscription {
  readonly #device: OnvifDevice;
  readonly #clock: Clock;
  readonly #where: Where;
  readonly #lifetime = new Lifetime();
  #takesRenewal = true;
  #takesLongTerm = true;
  /** To the last renewal there was no answer. */
  #wasUnanswered = false;

  /** When it was there, by the camera's clock; null: it doesn't say. */
  readonly madeUtcMs: number | null;

  private constructor(device: OnvifDevice, clock: Clock, where: Where, madeUtcMs: number | null) {
    this.#device = device;
    this.#clock = clock;
    this.#where = where;
    this.madeUtcMs = madeUtcMs;
  }

  /** Throws what `../errors.ts` lists. */
  static async create(
    device: OnvifDevice,
    clock: Clock,
    signal: AbortSignal,
    termSec = TERM_SEC,
  ): Promise<Subscription> {
    const url = device.services.events;
    if (url === undefined) throw tellsNone(Object.keys(device.services).length > 1);
    const question = {
      ...{ url, namespace: NAMESPACES.events, operation: 'CreatePullPointSubscription' },
      action: `${NAMESPACES.events}/EventPortType/CreatePullPointSubscriptionRequest`,
      ...{ inside: `<InitialTerminationTime>PT${termSec}S</InitialTerminationTime>`, signal },
    };
    const askedMs = clock.monotonicMs();
    const { element, body } = await device.ask(question).catch((fault: unknown) => {
      throw isUnknown(fault) ? tellsNone(true) : fault;
    });
    const told = textOf(at(element, 'SubscriptionReference', 'Address'));
    const address = device.addressOf(url, told);
    if (address === null)
      throw onvifError('camera_bad_answer', 'the camera does not say where its events are to be had');
    const where = { url: address, reference: referenceOf(body.toString('utf8')) };
    const made = new Subscription(device, clock, where, currentUtcMs(element));
    made.#lifetime.granted(element, askedMs);
    return made;
  }

  /**
   * Has it tell how all is now (Core §9.6), which some do for a new pull point only when they are asked. Many know no such question, and
   * say so in all ways: what is answered tells nothing of the pull point.
   */
  async synchronize(signal: AbortSignal): Promise<void> {
    const action = `${PULL_POINT}/SetSynchronizationPointRequest`;
    const question = {
      namespace: NAMESPACES.events,
      action,
      inside: '',
      limitMs: SYNCHRONIZE_LIMIT_MS,
      signal,
    };
    try {
      await this.#ask('SetSynchronizationPoint', question);
    } catch (fault) {
      if (!signal.aborted && !isOnvifError(fault)) throw fault;
    }
  }

  /** It is time for the next one. */
  get endsSoon(): boolean {
    return this.#lifetime.endsSoon(this.#clock.monotonicMs());
  }

  /** Some cameras have one address for all: it is the same, for longer. */
  isSameAs(other: Subscription): boolean {
    const [one, another] = [this.#where, other.#where];
    return one.url.href === another.url.href && one.reference.xml === another.reference.xml;
  }

  /** Another one beside it, to take over; null where the camera gives none now. */
  async next(signal: AbortSignal): Promise<Subscription | null> {
    const isLong = !this.#takesRenewal && this.#takesLongTerm;
    const termSec = isLong ? LONG_TERM_SEC : TERM_SEC;
    try {
      const made = await Subscription.create(this.#device, this.#clock, signal, termSec);
      made.#takesRenewal = this.#takesRenewal;
      made.#takesLongTerm = this.#takesLongTerm;
      return made;
    } catch (fault) {
      if (signal.aborted || !isOnvifError(fault)) throw fault;
      // The usual one is asked for next time, which is soon: this one is asked between them.
      if (isLong) this.#takesLongTerm = false;
      else this.#lifetime.beLast();
      return null;
    }
  }

  /** What there is, or comes within `maxSec`; the whole answer. */
  async pull(maxSec: number, signal: AbortSignal): Promise<Answer> {
    const waitSec = Math.min(this.#lifetime.waitSec(this.#clock.monotonicMs()), maxSec);
    const answer = await this.#ask('PullMessages', {
      ...{ namespace: NAMESPACES.events, action: `${PULL_POINT}/PullMessagesRequest`, signal },
      inside: `<Timeout>PT${waitSec}S</Timeout><MessageLimit>${MAX_MESSAGES}</MessageLimit>`,
      ...{ limitMs: waitSec * 1_000 + ANSWER_LIMIT_MS, ...PULLED },
    });
    this.#lifetime.prolonged(answer.element, this.#clock.monotonicMs());
    return answer;
  }

  /** Cameras have room for a few: whoever goes says so, and whatever is answered to it is gone. */
  async end(): Promise<void> {
    const action = `${MANAGER}/UnsubscribeRequest`;
    await this.#ask('Unsubscribe', { namespace: NOTIFICATION, action, inside: '' }).catch(() => {});
  }

  /** Whether the pull point is still there shows when it is asked, whatever is answered here. */
  async renewIfDue(signal: AbortSignal): Promise<void> {
    const askedMs = this.#clock.monotonicMs();
    if (!this.#takesRenewal || !this.#lifetime.isRenewalDue(askedMs)) return;
    try {
      const { element } = await this.#ask('Renew', {
        ...{ namespace: NOTIFICATION, action: `${MANAGER}/RenewRequest`, signal },
        inside: `<TerminationTime>PT${TERM_SEC}S</TerminationTime>`,
      });
      this.#takesRenewal = this.#lifetime.renewed(element, askedMs);
      this.#wasUnanswered = false;
    } catch (fault) {
      if (signal.aborted || !isOnvifError(fault)) throw fault;
      // Those that know no renewal say so in all ways, some by hanging up: no answer may be bad luck, once.
      const isUnanswered = fault.code === 'camera_timeout' || fault.code === 'camera_unreachable';
      this.#takesRenewal = isUnanswered && !this.#wasUnanswered;
      this.#wasUnanswered = isUnanswered;
    }
  }

  async #ask(operation: string, question: Omit<Question, 'url' | 'operation' | 'header'>): Promise<Answer> {
    const { url, reference } = this.#where;
    const { action = '' } = question;
    const xml =
      `<Action xmlns="${ADDRESSING}">${action}</Action><To xmlns="${ADDRESSING}">${escapeXml(url.href)}</To>` +
      `<MessageID xmlns="${ADDRESSING}">urn:uuid:${randomUUID()}</MessageID>${reference.xml}`;
    const header = { xml, declarations: reference.declarations };
    return this.#device.ask({ ...question, url, operation, header });
  }
}
