import { runCLI } from 'jest';

/** A request to a process of this file. */
export interface JestRun {
  readonly project: Project;
  /** Paths of test files, relative to the copy, in the order in which to run them. */
  readonly tests: readonly string[];
  readonly workers: number;
}

export type Project = 'unit' | 'integration';

export interface JestResult {
  readonly files: readonly { readonly file: string; readonly ms: number; readonly failed: boolean }[];
  readonly memory: number;
}

const answer = async ({ project, tests, workers }: JestRun): Promise<JestResult> => {
  const root = process.cwd();
  process.env.MUTATION_ORDER = tests.join('\n');
  const config = await configOf(root, project);
  const { results } = await runCLI(
    {
      $0: 'jest',
      _: tests.map((test) => `${root}/${test}`),
      config: JSON.stringify(config),
      runTestsByPath: true,
      maxWorkers: workers,
      runInBand: workers === 1,
      silent: true,
      watchman: false,
      cache: true,
      ci: true,
    },
    [root],
  );
  return {
    files: results.testResults.map((file) => ({
      file: file.testFilePath.slice(root.length + 1),
      ms: file.perfStats.end - file.perfStats.start,
      failed: file.numFailingTests > 0 || file.testExecError !== undefined || file.failureMessage != null,
    })),
    memory: process.memoryUsage().rss,
  };
};

/** The configuration of the copy for one of its projects. PostgreSQL already runs: POSTGRES_URL says where. */
const configOf = async (root: string, name: Project) => {
  const { default: config } = (await import(`${root}/jest.config.js`)) as {
    default: {
      projects: (Record<string, unknown> & { displayName: string; setupFiles?: string[] })[];
      testTimeout: number;
    };
  };
  const {
    globalSetup: _,
    globalTeardown: __,
    ...project
  } = config.projects.find(({ displayName }) => displayName === name)!;
  const own = (file: string) => new URL(file, import.meta.url).pathname;
  return {
    rootDir: root,
    projects: [
      {
        ...project,
        rootDir: root,
        setupFiles: [...(project.setupFiles ?? []), own('record-hits.js')],
        // Extended integration tests run too.
        testMatch: [`${root}/**/*.test.ts`],
        testPathIgnorePatterns: [],
        cacheDirectory: `${root}/.jest`,
      },
    ],
    testTimeout: config.testTimeout,
    testSequencer: own('in-order.js'),
    reporters: [],
  };
};

process.on('message', (run: JestRun) => {
  answer(run).then(
    (result) => process.send!(result),
    (error: Error) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
