import type { Clock } from '../../base/clock.js';
import { addressesFor, type Reached, type RtspPorts } from './addresses.js';
import { answerXml, notReadable, OnvifFault, unknownOperation } from './answer.js';
import { type DeviceFacts, deviceOperations } from './device-service.js';
import { Guard, type GuardDeps, type Shown, type Verdict } from './guard.js';
import { mediaOperations } from './media-service.js';
import { media2Operations } from './media2-service.js';
import { readQuestion } from './question.js';
import type { Operations, ShownCamera } from './shown-cameras.js';

export type DeviceServerDeps<Who> = GuardDeps<Who> & {
  readonly clock: Clock;
  readonly facts: DeviceFacts;
  /** Those that somebody may see, in order; throws an OnvifFault where that is nothing at all. */
  readonly camerasOf: (who: Who) => readonly ShownCamera[];
  readonly rtspPorts: () => RtspPorts;
};

export type ServiceOfDevice = keyof typeof prefixes;
export type DeviceRequest = { readonly text: string } & Omit<Shown, 'token'> & Reached;
export type DeviceAnswer = {
  readonly status: number;
  readonly xml: string;
  /** Of `WWW-Authenticate`. */
  readonly challenges: readonly string[];
};

const prefixes = { device: 'tds', media: 'trt', media2: 'tr2' } as const;

/** The service as an ONVIF device with all its cameras, for other recorders. It answers, and nothing can be changed. */
export class DeviceServer<Who> {
  readonly #deps: DeviceServerDeps<Who>;
  readonly #guard: Guard<Who>;
  readonly #services: Readonly<Record<ServiceOfDevice, Operations>>;

  constructor(deps: DeviceServerDeps<Who>) {
    this.#deps = deps;
    this.#guard = new Guard(deps);
    this.#services = {
      device: deviceOperations(deps.facts, deps.clock),
      media: mediaOperations,
      media2: media2Operations,
    };
  }

  /** Who asks, for what is beside the services. Throws where wrong things were shown too often. */
  admit(shown: Omit<Shown, 'token'>): Verdict<Who> {
    return this.#guard.admit({ ...shown, token: null });
  }

  /** Answers one request. Throws what isn't about ONVIF, and where wrong things were shown too often. */
  answer(service: ServiceOfDevice, request: DeviceRequest): DeviceAnswer {
    try {
      return this.#answer(service, request);
    } catch (thrown) {
      if (thrown instanceof OnvifFault) return { status: thrown.status, xml: thrown.xml, challenges: [] };
      throw thrown;
    }
  }

  #answer(service: ServiceOfDevice, request: DeviceRequest): DeviceAnswer {
    const question = readQuestion(request.text);
    const operation = this.#services[service].get(question?.operation ?? '');
    let cameras: () => readonly ShownCamera[] = () => [];
    if (operation?.isForAll !== true) {
      // Clients that wait for a challenge send nothing before they have it.
      const verdict = this.#guard.admit({ ...request, token: question?.token ?? null });
      if (verdict.kind === 'refused') {
        const { fault, challenges } = verdict;
        return { status: challenges.length > 0 ? 401 : fault.status, xml: fault.xml, challenges };
      }
      cameras = () => this.#deps.camerasOf(verdict.who);
    }
    if (question === null) throw notReadable();
    if (operation === undefined) throw unknownOperation(question.operation);
    const addresses = addressesFor(request, this.#deps.rtspPorts());
    const inside = operation.answer({ element: question.element, addresses, cameras });
    return { status: 200, xml: answerXml(prefixes[service], question.operation, inside), challenges: [] };
  }
}
