from fastapi import FastAPI

app = FastAPI(title="orders")
