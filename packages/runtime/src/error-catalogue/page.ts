import { AppError, ERROR_CODES, ERROR_TEXTS, type ErrorCode } from '@cpg/core';
import { errorBody } from '../http.ts';

const INTRODUCTION = `# Errors

<!-- Written by \`pnpm --filter @cpg/runtime errors\` -->

Every refusal has one form: \`error\` (the kind, for people), \`message\` (what was wrong), \`statusCode\`, \`code\` (stable: decide by this one),
\`request_id\` (name it when you ask us), and on 400 \`details\`, a list of \`{path, message}\`. Codes may be added: treat one you do not know by its
status. Checks run in this order: 401, 429, 403, 400, 404, 409.

<!-- prettier-ignore -->
| code | status | \`error\` | when | what to do |
|---|---|---|---|---|
`;

/** `docs/errors.md`: every code, with the status and the words that callers get. Markdown. */
export const renderErrorCatalogue = (): string =>
  INTRODUCTION +
  (Object.keys(ERROR_CODES) as ErrorCode[])
    .map((code) => {
      const { error, statusCode } = errorBody(new AppError(code, ''), '');
      const { when, remedy } = ERROR_TEXTS[code];
      return `| \`${code}\` | ${statusCode} | ${error} | ${when} | ${remedy} |\n`;
    })
    .join('');
