-- Streams of which a subscription could not handle an event. The later events of the stream wait behind it; other streams
-- go on. The service tries again after each start and every five minutes, and deletes the row when it succeeds.
create table parked_streams (
  subscription text not null,
  stream text not null,
  -- The first event that waits.
  revision bigint not null,
  event_id text not null,
  event_type text not null,
  reason text not null,
  parked_at timestamptz not null default now(),
  tried_at timestamptz not null default now(),
  primary key (subscription, stream)
);
