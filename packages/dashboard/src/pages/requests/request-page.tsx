import type { LoggedRequest, LoggedRequestPage } from '@cpg/sdk';
import { nameOf } from '../../lib/names.ts';
import { useLive } from '../../queries.ts';
import { useAllowed } from '../../session.ts';
import { t } from '../../texts/index.ts';
import { useParam } from '../../ui/address.ts';
import { ButtonLink, PageLink } from '../../ui/links.tsx';
import { useKeys, useUsers } from '../../ui/names.ts';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Empty, Loaded, Needs } from '../../ui/states.tsx';
import { HttpStatus, Id, Time } from '../../ui/values.tsx';

/** One request of the log. */
export const RequestPage = () => {
  const path = `/v1/requests?request_id=${encodeURIComponent(useParam('id'))}`;
  const found = useLive<LoggedRequestPage>(path, { enabled: useAllowed('readRequests') });
  return (
    <Page title={t.requests.one} beside={found.data?.items[0] && <HttpStatus status={found.data.items[0].status} />}>
      <Needs need="readRequests">
        <Loaded query={found}>
          {({ items: [request] }) => (request ? <Details request={request} /> : <Empty>{t.requests.missing}</Empty>)}
        </Loaded>
      </Needs>
    </Page>
  );
};

const Details = ({ request }: { readonly request: LoggedRequest }) => {
  const names = { users: useUsers(), keys: useKeys() };
  const { id, method, path, code, api_key_id: key, user_id: user, address, duration_ms: ms, created_at: at } = request;
  const words = t.requests;
  return (
    <Section
      title={`${method} ${path}`}
      actions={
        key !== undefined && (
          <ButtonLink to="/requests" search={{ api_key_id: key }} variant="default" size="xs">
            {words.ofKey}
          </ButtonLink>
        )
      }
    >
      <Facts
        facts={[
          [words.id, <Id key="id" value={id} short={false} />],
          [words.code, code !== undefined && <code className="breaking">{code}</code>],
          [
            key === undefined ? words.user : words.key,
            <PageLink key="by" to={key === undefined ? '/settings/users' : '/api-keys'} className="breaking">
              {nameOf(key ?? user ?? '', names)}
            </PageLink>,
          ],
          [words.address, address],
          [words.duration, words.took(ms)],
          [words.at, <Time key="at" at={at} exact />],
        ]}
      />
    </Section>
  );
};
