-- Set while another number of shards (LOG_SHARDS) is in use. The row stays, because its name is that of a producer in Kafka which later
-- leaders fence.
alter table checkpoints add column retired_at timestamptz;
