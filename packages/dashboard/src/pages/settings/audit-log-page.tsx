import { Text } from '@mantine/core';
import type { AuditLogEntry } from '@cpg/sdk';
import { changeInWords, pageOfSubject } from '../../lib/audit-log.ts';
import { type Named, nameOf, nameOfUser } from '../../lib/names.ts';
import { actorOf } from '../../lib/timeline.ts';
import { t, wordFor } from '../../texts/index.ts';
import { PageLink } from '../../ui/links.tsx';
import { ListView } from '../../ui/list-view.tsx';
import { useKeys, useUsers } from '../../ui/names.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Needs } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';

/** Who changed what of the merchant. */
export const AuditLogPage = () => (
  <Page title={t.auditLog.title}>
    <Needs need="readAuditLog">
      <Text size="sm" c="dimmed">
        {t.auditLog.note}
      </Text>
      <Entries />
    </Needs>
  </Page>
);

const Entries = () => {
  const names = { users: useUsers(), keys: useKeys() };
  return (
    <ListView<AuditLogEntry>
      list="audit-log"
      label={t.auditLog.title}
      columns={columns(names)}
      fields={[
        { kind: 'several', name: 'type', label: t.auditLog.what, words: t.auditLog.types, any: t.auditLog.any },
        { kind: 'text', name: 'actor', label: t.auditLog.actorId },
        { kind: 'text', name: 'subject', label: t.auditLog.subjectId },
        { kind: 'from', name: 'from_date', label: t.list.from },
        { kind: 'to', name: 'to_date', label: t.list.to },
      ]}
      empty={<Empty>{t.auditLog.empty}</Empty>}
    />
  );
};

const columns = (names: Named): Column<AuditLogEntry>[] => [
  {
    name: t.auditLog.at,
    cell: ({ created_at }) => <Time at={created_at} exact />,
    text: ({ created_at }) => created_at,
  },
  {
    name: t.auditLog.actor,
    cell: ({ actor }) => (
      <PageLink to="/settings/audit-log" search={{ actor }} className="breaking" display="inline-block" miw={120}>
        {actorInWords(actor, names)}
      </PageLink>
    ),
    text: ({ actor }) => actor,
  },
  {
    name: t.auditLog.what,
    cell: (entry) => (
      <div className="breaking">
        <Text size="sm" fw={600}>
          {wordFor(t.auditLog.types, entry.type)}
        </Text>
        {detailsOf(entry).map((line) => (
          <Text key={line} size="xs" c="dimmed">
            {line}
          </Text>
        ))}
      </div>
    ),
    text: (entry) => [wordFor(t.auditLog.types, entry.type), ...detailsOf(entry)].join('; '),
  },
  {
    name: t.auditLog.subject,
    cell: ({ type, subject }) => (
      <PageLink to={pageOfSubject(type, subject)} className="breaking">
        {subjectInWords(subject, names)}
      </PageLink>
    ),
    text: ({ subject }) => subject,
  },
];

const detailsOf = ({ changes, reason }: AuditLogEntry): string[] => [
  ...(reason === undefined ? [] : [reason]),
  ...changes.map((change) => changeInWords(change, t.auditLog)),
];

const actorInWords = (actor: string, { users, keys }: Named): string => {
  const { kind, name } = actorOf(actor);
  const user = users.find(({ id }) => kind === 'user' && id === name);
  if (user) return nameOfUser(user);
  const key = keys.find(({ prefix }) => kind === 'key' && prefix.endsWith(name));
  const words = Object.hasOwn(t.history.actors, kind) ? t.history.actors[kind] : undefined;
  return words ? words(key?.label ?? name).trim() : actor;
};

const subjectInWords = (subject: string, names: Named): string =>
  subject.startsWith('mer_') ? t.auditLog.merchant : nameOf(subject, names);
