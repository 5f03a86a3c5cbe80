/** Markup that is safe as it is. */
export type Html = string & { readonly isHtml: unique symbol };

export const escaped = (text: string): Html =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;') as Html;

/** Whatever is put in is text, unless it is markup of this function. */
export const html = (strings: TemplateStringsArray, ...values: readonly (Html | readonly Html[])[]): Html =>
  String.raw(
    { raw: strings.raw },
    ...values.map((value) => (typeof value === 'string' ? value : value.join(''))),
  ) as Html;
