import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const JAVA_AT_LEAST = 17;
const FETCHED_WITHIN_MS = 180_000;

/** What belongs to the real broker: its pom.xml and, ignored by git, the jars that Maven fetched. */
export const APACHE = fileURLToPath(new URL('../../../apache', import.meta.url));

/** This machine cannot run Apache Kafka. The message says what is missing. */
export class NoApacheKafka extends Error {
  override readonly name = 'NoApacheKafka';
}

/** The class path of Apache Kafka and its tools. Maven fetches them once per pom.xml; later runs need no network.
 *  Throws NoApacheKafka. */
export const apacheJars = async (): Promise<string> => {
  await requireJava();
  const pom = await readFile(join(APACHE, 'pom.xml'));
  const folder = join(APACHE, 'jars', createHash('sha256').update(pom).digest('hex').slice(0, 12));
  if (!existsSync(folder)) await fetch(folder);
  return join(folder, '*');
};

const requireJava = async (): Promise<void> => {
  const { stderr } = await run('java', ['-version']).catch(() => missing(`Java ${JAVA_AT_LEAST} is not installed`));
  const major = Number(/version "(\d+)/.exec(stderr)?.[1]);
  if (!(major >= JAVA_AT_LEAST)) missing(`it needs Java ${JAVA_AT_LEAST}, and this is ${stderr.split('\n')[0]}`);
};

/** The folder appears at once and complete, also when two test runs fetch together. */
const fetch = async (folder: string): Promise<void> => {
  await run('mvn', ['-version']).catch(() => missing('Maven (mvn) is not installed'));
  process.stderr.write('fetching Apache Kafka for the tests\n');
  await mkdir(dirname(folder), { recursive: true });
  const unfinished = await mkdtemp(join(dirname(folder), '.unfinished-'));
  const args = ['-q', '-B', '-ntp', 'dependency:copy-dependencies', `-DoutputDirectory=${unfinished}`];
  await run('mvn', args).catch(async (error: Error & { stdout?: string }) => {
    await rm(unfinished, { recursive: true });
    missing(`Maven could not fetch it: ${firstLine(error.stdout || error.message)}`);
  });
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
};

const run = (file: string, args: string[]) =>
  promisify(execFile)(file, args, { cwd: APACHE, timeout: FETCHED_WITHIN_MS });

const firstLine = (text: string): string => text.trim().split('\n')[0]!;

const missing = (reason: string): never => {
  throw new NoApacheKafka(reason);
};
