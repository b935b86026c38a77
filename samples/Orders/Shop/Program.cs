using Orders.Shop.Actors;
using Orders.Shop.Carts;
using Orders.Shop.Outside;
using Snapper.AspNetCore;

var builder = WebApplication.CreateBuilder(args);

// Transactional actors: this application is their worker.
builder.Services.AddSnapper(snapper => snapper.AddActors(typeof(Order).Assembly));

// Plain Dapr actors beside them.
builder.Services.AddActors(dapr =>
{
    dapr.Actors.RegisterActor<Cart>();
    dapr.UseJsonSerialization = true;
});

// What leaves the system, after the commit.
builder.Services.AddSnapperClient();
builder.Services.AddSingleton<Folders>();
builder.Services.AddSingleton<ICards>(services => services.GetRequiredService<Folders>());
builder.Services.AddSingleton<IMails>(services => services.GetRequiredService<Folders>());
builder.Services.AddHostedService<Errands>();

builder.Services.AddHealthChecks().AddSnapper();

var app = builder.Build();
app.MapSnapper();
app.MapActorsHandlers().RequireAppApiToken();
app.MapHealthChecks("/healthz");
app.MapCarts();
app.Run();
