import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ExportedFile } from './exported-file.js';
import {
  type ExportOrigin,
  MANIFEST_NAME,
  manifestOf,
  SUMS_NAME,
  sumsOf,
  unknownSumsOf,
} from './manifest.js';
import {
  centralHeader,
  centralHeaderBytes,
  descriptor,
  descriptorBytes,
  endOfZip,
  localHeader,
  localHeaderBytes,
  type ZipMember,
} from './zip-format.js';

/** A stretch of the zip file: bytes that are made when they are wanted, or those of a clip. */
type Section = {
  readonly startByte: number;
  readonly endByte: number;
  readonly content: ExportedFile | Made;
};

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const namesOf = ({ name, subtitles, subtitlesName }: ExportedFile): string[] =>
  subtitles === null ? [name] : [name, subtitlesName];

/** Made when it is wanted, unless that is over by then. */
type Made<Value = Buffer> = (signal: AbortSignal) => Promise<Value>;

/**
 * Clips, a manifest and checksums as one zip file, nothing of which is kept: where everything stands follows from the
 * sizes, so that any range can be made. What needs a checksum comes behind what it is of.
 */
export class ZipContent {
  readonly contentBytes: number;
  readonly etag: string;
  readonly lastModifiedMs: number;
  readonly #files: readonly ExportedFile[];
  readonly #origin: ExportOrigin;
  readonly #sections: Section[] = [];
  readonly #directory: Made[] = [];
  #atByte = 0;
  #directoryBytes = 0;

  constructor(files: readonly ExportedFile[], origin: ExportOrigin) {
    this.#files = files;
    this.#origin = origin;
    this.lastModifiedMs = Math.max(...files.map(({ clip }) => clip.lastModifiedMs));
    for (const file of files) this.#addFile(file);
    const names = [...files.flatMap(namesOf), MANIFEST_NAME];
    this.#addText(MANIFEST_NAME, manifestOf(origin, files).length, (signal) => this.#manifest(signal));
    this.#addText(SUMS_NAME, unknownSumsOf(names).length, (signal) => this.#sums(signal));
    const place = {
      count: this.#directory.length,
      offsetBytes: this.#atByte,
      lengthBytes: this.#directoryBytes,
    };
    const end = endOfZip(place);
    this.#add(place.lengthBytes + end.length, async (signal) => {
      const headers: Buffer[] = [];
      for (const header of this.#directory) headers.push(await header(signal));
      return Buffer.concat([...headers, end]);
    });
    this.contentBytes = this.#atByte;
    const facts = [
      origin.madeBy,
      origin.madeMs,
      files.map(({ name, clip, subtitles }) => [name, clip.etag, subtitles?.length]),
    ];
    this.etag = `"${createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 27)}"`;
  }

  /** Bytes [startByte, endByte), made while they are read. */
  async *read(
    startByte: number,
    endByte: number,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer, void, undefined> {
    for (const section of this.#sections) {
      const from = Math.max(startByte, section.startByte) - section.startByte;
      const to = Math.min(endByte, section.endByte) - section.startByte;
      if (from >= to) continue;
      const { content } = section;
      if (typeof content === 'function') yield (await content(signal)).subarray(from, to);
      else yield* content.read(from, to, signal);
    }
  }

  #addFile(file: ExportedFile): void {
    const member: ZipMember = {
      name: file.name,
      sizeBytes: file.clip.contentBytes,
      madeMs: this.#origin.madeMs,
      isStreamed: true,
    };
    const checksum = async (signal: AbortSignal) => (await file.digest(signal)).crc32;
    this.#addMember(member, checksum, file);
    this.#add(descriptorBytes(member), async (signal) => descriptor(member, await checksum(signal)));
    const { subtitles } = file;
    if (subtitles !== null) this.#addText(file.subtitlesName, subtitles.length, async () => subtitles);
  }

  #addText(name: string, sizeBytes: number, text: Made): void {
    const member = { name, sizeBytes, madeMs: this.#origin.madeMs, isStreamed: false };
    this.#addMember(member, async (signal) => crc32(await text(signal)), text);
  }

  #addMember(member: ZipMember, checksum: Made<number>, content: Section['content']): void {
    const offsetBytes = this.#atByte;
    const header: Made = async (signal) =>
      localHeader(member, member.isStreamed ? 0 : await checksum(signal));
    this.#add(localHeaderBytes(member), header);
    this.#add(member.sizeBytes, content);
    this.#directory.push(async (signal) => centralHeader(member, await checksum(signal), offsetBytes));
    this.#directoryBytes += centralHeaderBytes(member, offsetBytes);
  }

  #add(lengthBytes: number, content: Section['content']): void {
    const startByte = this.#atByte;
    this.#atByte += lengthBytes;
    this.#sections.push({ startByte, endByte: this.#atByte, content });
  }

  async #manifest(signal: AbortSignal): Promise<Buffer> {
    const sums = await this.#sha256s(signal);
    return manifestOf(this.#origin, this.#files, (file) => sums.get(file)!);
  }

  async #sums(signal: AbortSignal): Promise<Buffer> {
    const sums = await this.#sha256s(signal);
    const manifest = await this.#manifest(signal);
    const listed = this.#files.flatMap((file) => {
      const { name, subtitles, subtitlesName } = file;
      const clip = { name, sha256: sums.get(file)! };
      return subtitles === null ? [clip] : [clip, { name: subtitlesName, sha256: sha256Of(subtitles) }];
    });
    return sumsOf([...listed, { name: MANIFEST_NAME, sha256: sha256Of(manifest) }]);
  }

  async #sha256s(signal: AbortSignal): Promise<ReadonlyMap<ExportedFile, string>> {
    const sums = new Map<ExportedFile, string>();
    for (const file of this.#files) sums.set(file, (await file.digest(signal)).sha256);
    return sums;
  }
}
