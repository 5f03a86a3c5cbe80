import { hostname, networkInterfaces } from 'node:os';
import type { Clock } from '../../base/clock.js';
import { NAMESPACES } from '../services.js';
import { textXml } from './answer.js';
import type { Addresses, Operation, Operations } from './shown-cameras.js';

export type DeviceFacts = {
  readonly version: string;
  /** What it is called among all devices, as long as its secret stays. */
  readonly uuid: string;
};

/** The version of ONVIF's services that these answers are written by. */
const versionXml = (prefix: string): string =>
  `<${prefix}><tt:Major>2</tt:Major><tt:Minor>60</tt:Minor></${prefix}>`;

const serviceXml = (namespace: string, address: string): string =>
  `<tds:Service>${textXml('tds:Namespace', namespace)}${textXml('tds:XAddr', address)}${versionXml('tds:Version')}</tds:Service>`;

const dateTimeXml = (wallMs: number): string => {
  const now = new Date(wallMs);
  const time = `${textXml('tt:Hour', now.getUTCHours())}${textXml('tt:Minute', now.getUTCMinutes())}${textXml('tt:Second', now.getUTCSeconds())}`;
  const date = `${textXml('tt:Year', now.getUTCFullYear())}${textXml('tt:Month', now.getUTCMonth() + 1)}${textXml('tt:Day', now.getUTCDate())}`;
  return (
    '<tds:SystemDateAndTime><tt:DateTimeType>NTP</tt:DateTimeType><tt:DaylightSavings>false</tt:DaylightSavings>' +
    `<tt:TimeZone><tt:TZ>UTC0</tt:TZ></tt:TimeZone><tt:UTCDateTime><tt:Time>${time}</tt:Time>` +
    `<tt:Date>${date}</tt:Date></tt:UTCDateTime></tds:SystemDateAndTime>`
  );
};

const capabilitiesXml = ({ device, media }: Addresses): string =>
  `<tds:Capabilities><tt:Device>${textXml('tt:XAddr', device)}<tt:System>` +
  '<tt:DiscoveryResolve>false</tt:DiscoveryResolve><tt:DiscoveryBye>false</tt:DiscoveryBye>' +
  '<tt:RemoteDiscovery>false</tt:RemoteDiscovery><tt:SystemBackup>false</tt:SystemBackup>' +
  '<tt:SystemLogging>false</tt:SystemLogging><tt:FirmwareUpgrade>false</tt:FirmwareUpgrade>' +
  `${versionXml('tt:SupportedVersions')}</tt:System></tt:Device>` +
  `<tt:Media>${textXml('tt:XAddr', media)}<tt:StreamingCapabilities><tt:RTPMulticast>false</tt:RTPMulticast>` +
  '<tt:RTP_TCP>true</tt:RTP_TCP><tt:RTP_RTSP_TCP>true</tt:RTP_RTSP_TCP></tt:StreamingCapabilities></tt:Media>' +
  '</tds:Capabilities>';

/** Who we are, for whoever chooses among what was found (ONVIF Core §7.3.2.2). */
export const SCOPES: readonly string[] = [
  'Profile/Streaming',
  'type/video_encoder',
  'type/Network_Video_Transmitter',
  'name/Framering',
  'hardware/Framering',
].map((scope) => `onvif://www.onvif.org/${scope}`);

const scopeXml = (scope: string): string =>
  `<tds:Scopes><tt:ScopeDef>Fixed</tt:ScopeDef>${textXml('tt:ScopeItem', scope)}</tds:Scopes>`;

/** The one that was reached, and no other: what else this machine is connected to is nobody's business. */
const interfaceXml = (reached: string): string => {
  for (const [name, addresses = []] of Object.entries(networkInterfaces()))
    for (const { address, cidr, mac, family } of addresses)
      if (address === reached && family === 'IPv4') {
        const prefix = textXml('tt:PrefixLength', cidr?.split('/')[1] ?? '32');
        return (
          `<tds:NetworkInterfaces token="${name.replaceAll(/[^\w.-]/g, '_')}"><tt:Enabled>true</tt:Enabled><tt:Info>` +
          `${textXml('tt:Name', name)}${textXml('tt:HwAddress', mac)}</tt:Info><tt:IPv4><tt:Enabled>true</tt:Enabled>` +
          `<tt:Config><tt:Manual>${textXml('tt:Address', address)}${prefix}</tt:Manual><tt:DHCP>false</tt:DHCP>` +
          '</tt:Config></tt:IPv4></tds:NetworkInterfaces>'
        );
      }
  return '';
};

/** What everybody asks a device first (ONVIF Core §8). */
export const deviceOperations = (facts: DeviceFacts, clock: Pick<Clock, 'wallMs'>): Operations =>
  new Map<string, Operation>([
    ['GetSystemDateAndTime', { isForAll: true, answer: () => dateTimeXml(clock.wallMs()) }],
    [
      'GetServices',
      {
        isForAll: true,
        answer: ({ addresses: { device, media, media2 } }) =>
          serviceXml(NAMESPACES.device, device) +
          serviceXml(NAMESPACES.media, media) +
          serviceXml(NAMESPACES.media2, media2),
      },
    ],
    ['GetCapabilities', { isForAll: true, answer: ({ addresses }) => capabilitiesXml(addresses) }],
    [
      'GetServiceCapabilities',
      {
        isForAll: true,
        answer: () =>
          '<tds:Capabilities><tds:Network/><tds:Security UsernameToken="true" HttpDigest="true"/><tds:System/></tds:Capabilities>',
      },
    ],
    [
      'GetDeviceInformation',
      {
        answer: () =>
          '<tds:Manufacturer>Framering</tds:Manufacturer><tds:Model>Framering</tds:Model>' +
          `${textXml('tds:FirmwareVersion', facts.version)}${textXml('tds:SerialNumber', facts.uuid)}` +
          '<tds:HardwareId>Framering</tds:HardwareId>',
      },
    ],
    ['GetScopes', { answer: () => SCOPES.map(scopeXml).join('') }],
    [
      'GetHostname',
      {
        answer: () =>
          `<tds:HostnameInformation><tt:FromDHCP>false</tt:FromDHCP>${textXml('tt:Name', hostname())}</tds:HostnameInformation>`,
      },
    ],
    ['GetNetworkInterfaces', { answer: ({ addresses }) => interfaceXml(addresses.reached) }],
    ['GetEndpointReference', { answer: () => textXml('tds:GUID', `urn:uuid:${facts.uuid}`) }],
  ]);
