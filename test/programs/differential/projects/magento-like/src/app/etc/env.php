<?php return ['db' => ['host' => 'db']];
