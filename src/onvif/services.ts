import { all, at, type Element, textOf } from '../analytics/xml-tree.js';
import { onSameHost } from './device-address.js';

/** The services that we use, by their namespaces. */
export const NAMESPACES = {
  device: 'http://www.onvif.org/ver10/device/wsdl',
  media: 'http://www.onvif.org/ver10/media/wsdl',
  media2: 'http://www.onvif.org/ver20/media/wsdl',
  ptz: 'http://www.onvif.org/ver20/ptz/wsdl',
  imaging: 'http://www.onvif.org/ver20/imaging/wsdl',
  events: 'http://www.onvif.org/ver10/events/wsdl',
  analytics: 'http://www.onvif.org/ver20/analytics/wsdl',
} as const;

export type ServiceName = keyof typeof NAMESPACES;

/** Where each service is that a device has. */
export type ServiceAddresses = Partial<Readonly<Record<ServiceName, URL>>>;

const MAX_SERVICES = 64;
const names = Object.keys(NAMESPACES) as ServiceName[];

const collect = (
  asked: URL,
  reached: string,
  told: Iterable<readonly [ServiceName | undefined, string]>,
): ServiceAddresses => {
  const found: Partial<Record<ServiceName, URL>> = {};
  for (const [name, text] of told) {
    const url = name === undefined ? null : onSameHost(asked, text, reached);
    if (name !== undefined && url !== null) found[name] ??= url;
  }
  // Where that is, whoever asked knows better.
  return { ...found, device: asked };
};

/** Of an answer to GetServices (ONVIF Core §8.1.2.1); `reached`: see `onSameHost`. */
export const fromServices = (asked: URL, reached: string, answer: Element): ServiceAddresses =>
  collect(
    asked,
    reached,
    all(answer, 'Service')
      .slice(0, MAX_SERVICES)
      .map((service) => {
        const namespace = textOf(at(service, 'Namespace'));
        return [names.find((name) => NAMESPACES[name] === namespace), textOf(at(service, 'XAddr'))] as const;
      }),
  );

/** What they are called in an answer to GetCapabilities, which devices before 2.1 have alone (§8.1.2.3). */
const capabilityNames: readonly (readonly [ServiceName, string])[] = [
  ['media', 'Media'],
  ['ptz', 'PTZ'],
  ['imaging', 'Imaging'],
  ['events', 'Events'],
  ['analytics', 'Analytics'],
];

export const fromCapabilities = (asked: URL, reached: string, answer: Element): ServiceAddresses =>
  collect(
    asked,
    reached,
    capabilityNames.map(
      ([name, element]) => [name, textOf(at(answer, 'Capabilities', element, 'XAddr'))] as const,
    ),
  );
