insert into product (name, price) values ('lamp', 24.50), ('chair', 79.00), ('desk', 240.00)
on conflict (name) do update set price = excluded.price;
