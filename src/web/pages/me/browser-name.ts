/** The first that fits counts: all but Firefox call themselves by others' names, too. */
const browsers: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg\w*\/(\d+)/, 'Edge'],
  [/\bOPR\/(\d+)/, 'Opera'],
  [/\bSamsungBrowser\/(\d+)/, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/, 'Chrome'],
  [/\bVersion\/(\d+)[\d.]* (?:Mobile\/\w+ )?Safari\//, 'Safari'],
];
const systems: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'Mac'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];
const MAX_CHARACTERS = 60;

/** "Firefox 128, Windows", as far as it can be told by what a browser calls itself; "" where it says nothing. */
export const browserName = (userAgent: string): string => {
  for (const [pattern, name] of browsers) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const system = systems.find(([each]) => each.test(userAgent))?.[1];
    return system === undefined ? `${name} ${version}` : `${name} ${version}, ${system}`;
  }
  return userAgent.slice(0, MAX_CHARACTERS);
};
