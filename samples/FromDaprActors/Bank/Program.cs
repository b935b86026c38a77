using Bank;

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddActors(it => { it.UseJsonSerialization = true; it.Actors.RegisterActor<Account>(); });

var app = builder.Build();
app.MapActorsHandlers();
app.Run();
