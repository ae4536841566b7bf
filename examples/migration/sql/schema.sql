create table if not exists product (
  id serial primary key,
  name text not null unique,
  price numeric(10, 2) not null
);
