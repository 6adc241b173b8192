import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const MIN_JAVA = 17;
const MAVEN_TIMEOUT_MS = 180_000;

/** The folder of Apache Kafka: its pom.xml, its settings, and the jars that Maven downloads (ignored by git). */
export const APACHE = fileURLToPath(new URL('../../../apache', import.meta.url));

/** This machine cannot run Apache Kafka. The message says why. */
export class NoApacheKafka extends Error {
  override readonly name = 'NoApacheKafka';
}

/** The class path of Apache Kafka and its tools. Maven downloads the jars once for each pom.xml. Throws
 *  NoApacheKafka. */
export const apacheJars = async (): Promise<string> => {
  await requireJava();
  const pom = await readFile(join(APACHE, 'pom.xml'));
  const folder = join(APACHE, 'jars', createHash('sha256').update(pom).digest('hex').slice(0, 12));
  if (!existsSync(folder)) await download(folder);
  return join(folder, '*');
};

const requireJava = async (): Promise<void> => {
  const { stderr } = await run('java', ['-version']).catch(() => missing(`Java ${MIN_JAVA} is not installed`));
  const major = Number(/version "(\d+)/.exec(stderr)?.[1]);
  if (!(major >= MIN_JAVA)) missing(`Java ${MIN_JAVA} is required, found ${stderr.split('\n')[0]}`);
};

/** Downloads into a temporary folder and renames it, so that concurrent test runs never see an incomplete one. */
const download = async (folder: string): Promise<void> => {
  await run('mvn', ['-version']).catch(() => missing('Maven (mvn) is not installed'));
  process.stderr.write('downloading Apache Kafka for the tests\n');
  await mkdir(dirname(folder), { recursive: true });
  const unfinished = await mkdtemp(join(dirname(folder), '.unfinished-'));
  const args = ['-q', '-B', '-ntp', 'dependency:copy-dependencies', `-DoutputDirectory=${unfinished}`];
  await run('mvn', args).catch(async (error: Error & { stdout?: string }) => {
    await rm(unfinished, { recursive: true });
    missing(`Maven could not download it: ${firstLine(error.stdout || error.message)}`);
  });
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
};

const run = (file: string, args: string[]) =>
  promisify(execFile)(file, args, { cwd: APACHE, timeout: MAVEN_TIMEOUT_MS });

const firstLine = (text: string): string => text.trim().split('\n')[0]!;

const missing = (reason: string): never => {
  throw new NoApacheKafka(reason);
};
