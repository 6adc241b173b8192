/** A log line of an error that ends the server or its start. */
export const SEVERE_LINE = /\b(FATAL|PANIC): /;
