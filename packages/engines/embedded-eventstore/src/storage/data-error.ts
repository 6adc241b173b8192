import pg from 'pg';

// Data exceptions, integrity constraint violations, and program limits.
const DATA_CLASSES = ['22', '23', '54'];
// Two events at one position or revision: the state in memory is not that of the database.
const UNIQUE_VIOLATION = '23505';

/** Whether PostgreSQL refuses the data of a statement, so that the same statement fails again. Any other error may
 *  pass, or tells that the session has to begin anew. */
export const isDataError = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError &&
  error.code !== UNIQUE_VIOLATION &&
  DATA_CLASSES.some((name) => error.code?.startsWith(name));
