-- Schema 2: reserved.

SELECT 2;
