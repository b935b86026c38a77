using Snapper.AspNetCore;
using SnapperApp;

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddSnapper(snapper => snapper.AddActors(typeof(Counter).Assembly));

var app = builder.Build();
app.MapSnapper();
app.MapGet("/hello", () => "Hello");
app.Run();
