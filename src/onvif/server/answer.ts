import { AppError } from '../../base/errors.js';
import { NAMESPACES } from '../services.js';
import { escapeXml } from '../soap.js';

const SOAP = 'http://www.w3.org/2003/05/soap-envelope';

const envelopeOf = (body: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="${SOAP}" xmlns:tds="${NAMESPACES.device}" ` +
  `xmlns:trt="${NAMESPACES.media}" xmlns:tr2="${NAMESPACES.media2}" xmlns:tt="http://www.onvif.org/ver10/schema" ` +
  `xmlns:ter="http://www.onvif.org/ver10/error"><s:Body>${body}</s:Body></s:Envelope>`;

/** An element of text, which may be anything. */
export const textXml = (name: string, value: string | number | boolean): string =>
  `<${name}>${escapeXml(String(value))}</${name}>`;

/** The whole answer to a question, of what is in it. */
export const answerXml = (prefix: 'tds' | 'trt' | 'tr2', operation: string, inside: string): string =>
  envelopeOf(`<${prefix}:${operation}Response>${inside}</${prefix}:${operation}Response>`);

/** Why there is no answer (ONVIF Core §5.8.2): whose fault it is, what it is called from the outside in, and a sentence. */
export class OnvifFault extends AppError<'onvif_fault'> {
  readonly whose: 'Sender' | 'Receiver';
  readonly subcodes: readonly string[];

  constructor(whose: 'Sender' | 'Receiver', subcodes: readonly string[], reason: string) {
    super('onvif_fault', reason);
    this.whose = whose;
    this.subcodes = subcodes;
  }

  /** Of HTTP (SOAP 1.2 part 2 §7.5.2). */
  get status(): number {
    return this.whose === 'Sender' ? 400 : 500;
  }

  get xml(): string {
    const inner = this.subcodes.reduceRight(
      (below, code) => `<s:Subcode><s:Value>ter:${code}</s:Value>${below}</s:Subcode>`,
      '',
    );
    return envelopeOf(
      `<s:Fault><s:Code><s:Value>s:${this.whose}</s:Value>${inner}</s:Code>` +
        `<s:Reason><s:Text xml:lang="en">${escapeXml(this.message)}</s:Text></s:Reason></s:Fault>`,
    );
  }
}

export const notAuthorized = (reason: string): OnvifFault =>
  new OnvifFault('Sender', ['NotAuthorized'], reason);

export const notReadable = (): OnvifFault =>
  new OnvifFault('Sender', ['WellFormed'], 'the request is no SOAP that can be read');

export const unknownOperation = (operation: string): OnvifFault =>
  new OnvifFault('Receiver', ['ActionNotSupported'], `there is no ${operation.slice(0, 64)} here`);

/** What was asked about is not there. */
export const noSuch = (subcode: 'NoProfile' | 'NoConfig', what: string): OnvifFault =>
  new OnvifFault('Sender', ['InvalidArgVal', subcode], `there is no such ${what}`);
