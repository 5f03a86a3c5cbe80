import { homedir } from 'node:os';
import { join } from 'node:path';
import { ownVersion } from './base/own-version.js';

const EXIT_BAD_USE = 2;

/**
 * Where the data lies when nobody says. Not the folder that the command happens to be called in: another one would have other
 * cameras, and one may well hold a folder `data` of something else. (XDG Base Directory Specification)
 */
const usualDataDir = (): string => {
  const dataHome = process.env['XDG_DATA_HOME'];
  return join(dataHome?.startsWith('/') ? dataHome : join(homedir(), '.local/share'), 'framering');
};

const helpOf = (dataDir: string): string => `Framering ${ownVersion()}: camera streaming and recording service

  framering                starts the service; Ctrl+C ends it
  framering import FILE    lists what cameras a mediamtx.yml, go2rtc.yaml or Frigate's config.yml has;
                           --apply --server URL, with an access token in FRAMERING_TOKEN, makes them
  framering --version
  framering --help

It is set by environment variables, of which README.md has all. The first ones that one needs:

  DATA_DIR      everything that must last (${dataDir})
  ARCHIVE_DIR   the recordings (recordings in DATA_DIR)
  PORT          the pages and the API (8080)
  HOST          the address that is bound (0.0.0.0: all)
`;

const run = async ([command, ...rest]: readonly string[]): Promise<void> => {
  if (command === 'import') {
    process.argv = [...process.argv.slice(0, 2), ...rest];
    await import('./import/main.js');
  } else if (command === undefined) {
    process.env['DATA_DIR'] ||= usualDataDir();
    await import('./main.js');
  } else if (command === '--version' || command === '-v') {
    process.stdout.write(`${ownVersion()}\n`);
  } else if (command === '--help' || command === '-h') {
    process.stdout.write(helpOf(process.env['DATA_DIR'] || usualDataDir()));
  } else {
    process.stderr.write(`framering knows no ${JSON.stringify(command)}: framering --help\n`);
    process.exitCode = EXIT_BAD_USE;
  }
};

await run(process.argv.slice(2));
